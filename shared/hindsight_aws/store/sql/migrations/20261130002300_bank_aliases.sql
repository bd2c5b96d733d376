-- Aliases: other names under which a bank answers; a bank's own id wins over an alias.
-- depends: 20261129000300_isolation

CREATE TABLE bank_aliases (
    tenant_id uuid NOT NULL,
    alias text NOT NULL CHECK (octet_length(alias) BETWEEN 1 AND 192),
    bank_id uuid NOT NULL,
    is_primary boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, alias),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE INDEX bank_aliases_bank ON bank_aliases (tenant_id, bank_id, is_primary DESC, created_at, alias);
CREATE UNIQUE INDEX bank_aliases_primary ON bank_aliases (tenant_id, bank_id) WHERE is_primary;
COMMENT ON COLUMN bank_aliases.is_primary IS 'the name that lists show; of a bank one at most';

ALTER TABLE bank_aliases ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank_aliases FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON bank_aliases USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
GRANT SELECT ON bank_aliases TO hindsight_read, hindsight_write;
GRANT INSERT, UPDATE, DELETE ON bank_aliases TO hindsight_write;
