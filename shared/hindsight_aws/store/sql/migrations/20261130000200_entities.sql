-- What names of new facts are matched by: an entity's words and lookup keys, its other spellings, and a likeness of names.
-- depends: 20261129000300_isolation

ALTER TABLE entities ADD COLUMN words text, ADD COLUMN last_dated timestamptz;
COMMENT ON COLUMN entities.words IS 'the name''s words as the application folds them; null until the entity is mentioned again';
COMMENT ON COLUMN entities.last_dated IS 'the latest time of a dated fact that names it; null where none is dated';

-- The bank comes last in these and in the keys below: while a table is without statistics, a search by entity must not take the index for its own
-- and read all of the bank through it.
DROP INDEX entities_name;
CREATE UNIQUE INDEX entities_name ON entities (tenant_id, name_key, bank_id);
DROP INDEX entity_cooccurrences_second;
CREATE INDEX entity_cooccurrences_second ON entity_cooccurrences (tenant_id, entity_id_2, bank_id);

-- Names that may be alike share a key, and plain equality is leakproof: a trigram index would never be used by the app role.
CREATE TABLE entity_keys (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    key bigint NOT NULL,
    entity_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, key, bank_id, entity_id),
    FOREIGN KEY (tenant_id, bank_id, entity_id) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX entity_keys_entity ON entity_keys (tenant_id, entity_id, bank_id);

CREATE TABLE entity_spellings (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    spelling_key text NOT NULL,
    entity_id uuid NOT NULL,
    spelling text NOT NULL CHECK (char_length(spelling) <= 512),
    rule text NOT NULL CHECK (rule IN ('words', 'likeness')),
    score real NOT NULL CHECK (score BETWEEN 0 AND 1),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, spelling_key, bank_id),
    FOREIGN KEY (tenant_id, bank_id, entity_id) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX entity_spellings_entity ON entity_spellings (tenant_id, entity_id, bank_id);
COMMENT ON TABLE entity_spellings IS 'names that were taken for an entity of another name, and why: the next mention is not scored again';

DO $$
DECLARE
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['entity_keys', 'entity_spellings'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', made);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', made);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', made);
        EXECUTE format('GRANT SELECT ON %I TO hindsight_read, hindsight_write', made);
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %I TO hindsight_write', made);
    END LOOP;
END
$$;

-- pg_trgm is optional: without it the function knows nothing, and the application measures by the same rule.
DO $$
DECLARE
    home text := (SELECT n.nspname FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace WHERE x.extname = 'pg_trgm');
BEGIN
    EXECUTE format(
        'CREATE FUNCTION name_similarity(ours text, theirs text) RETURNS real LANGUAGE sql STABLE PARALLEL SAFE AS %L',
        CASE WHEN home IS NULL THEN 'SELECT NULL::real' ELSE format('SELECT %I.similarity(ours, theirs)', home) END);
END
$$;
