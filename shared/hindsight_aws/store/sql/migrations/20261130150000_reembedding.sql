-- Vectors of a bank by another model: made beside those that serve, and put in their place at once.
-- depends: 20261130140000_erasures

CREATE TABLE reembedded_vectors (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('memory', 'archived', 'revision', 'page')),
    item_id uuid NOT NULL,
    made_of text NOT NULL,
    embedding halfvec(512),
    unit_id uuid GENERATED ALWAYS AS (CASE WHEN kind = 'memory' THEN item_id END) STORED,
    archived_id uuid GENERATED ALWAYS AS (CASE WHEN kind = 'archived' THEN item_id END) STORED,
    revision_id uuid GENERATED ALWAYS AS (CASE WHEN kind = 'revision' THEN item_id END) STORED,
    page_id uuid GENERATED ALWAYS AS (CASE WHEN kind = 'page' THEN item_id END) STORED,
    PRIMARY KEY (tenant_id, bank_id, operation_id, kind, item_id),
    FOREIGN KEY (tenant_id, bank_id, operation_id) REFERENCES operations ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, unit_id) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, archived_id) REFERENCES invalidated_memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, revision_id) REFERENCES observation_revisions ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, page_id) REFERENCES mental_models ON DELETE CASCADE
);
ALTER TABLE reembedded_vectors ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX reembedded_vectors_unit ON reembedded_vectors (tenant_id, bank_id, unit_id) WHERE unit_id IS NOT NULL;
CREATE INDEX reembedded_vectors_archived ON reembedded_vectors (tenant_id, bank_id, archived_id) WHERE archived_id IS NOT NULL;
CREATE INDEX reembedded_vectors_revision ON reembedded_vectors (tenant_id, bank_id, revision_id) WHERE revision_id IS NOT NULL;
CREATE INDEX reembedded_vectors_page ON reembedded_vectors (tenant_id, bank_id, page_id) WHERE page_id IS NOT NULL;
COMMENT ON COLUMN reembedded_vectors.made_of IS 'a digest of the text and of the vector that serves: a text that has changed since has another';
COMMENT ON COLUMN reembedded_vectors.unit_id IS 'what it is of, once more, so that it goes with it; so the next three';

-- A revision or page stays when its text has to go; what was made of that text does not.
CREATE FUNCTION forget_reembedded() RETURNS trigger
LANGUAGE plpgsql SET search_path = hindsight, pg_temp
AS $$
BEGIN
    IF TG_TABLE_NAME = 'observation_revisions' THEN
        DELETE FROM reembedded_vectors WHERE tenant_id = NEW.tenant_id AND bank_id = NEW.bank_id AND revision_id = NEW.revision_id;
    ELSE
        DELETE FROM reembedded_vectors WHERE tenant_id = NEW.tenant_id AND bank_id = NEW.bank_id AND page_id = NEW.page_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_reembedded AFTER UPDATE OF text ON observation_revisions
    FOR EACH ROW WHEN (OLD.embedding IS NOT NULL AND NEW.text IS NULL) EXECUTE FUNCTION forget_reembedded();
CREATE TRIGGER forget_reembedded AFTER UPDATE OF content ON mental_models
    FOR EACH ROW WHEN (OLD.embedding IS NOT NULL AND NEW.content = '') EXECUTE FUNCTION forget_reembedded();

ALTER TABLE banks ADD COLUMN vectors_closed_until timestamptz NOT NULL DEFAULT '-infinity';
COMMENT ON COLUMN banks.vectors_closed_until IS 'until when nobody writes vectors: the last of another model''s are being made';

ALTER TABLE reembedded_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE reembedded_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON reembedded_vectors USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
GRANT SELECT ON reembedded_vectors TO hindsight_read, hindsight_write;
GRANT INSERT, UPDATE, DELETE ON reembedded_vectors TO hindsight_write;
