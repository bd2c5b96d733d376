-- Directives in the order in which they bind, under names of at most 256 characters.
-- depends: 20261129000300_isolation

CREATE INDEX directives_in_order ON directives (tenant_id, bank_id, priority DESC, created_at DESC, directive_id DESC);
ALTER TABLE directives ADD CONSTRAINT directives_name_fits CHECK (char_length(name) <= 256) NOT VALID;
COMMENT ON COLUMN directives.tags IS 'without tags it binds every answer; with tags those whose request asks for them';
