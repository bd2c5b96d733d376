-- Uploaded files that are kept after their text was retained: which document holds each, so that they go with it.
-- depends: 20261130000400_operations 20261130000500_files

CREATE TABLE kept_files (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    file_id uuid NOT NULL,
    object_key text NOT NULL,
    filename text NOT NULL,
    content_type text NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    operation_id uuid NOT NULL,
    retain_operation_id uuid NOT NULL,
    document_id uuid,
    held_at timestamptz,
    is_condemned boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, file_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, document_id) REFERENCES documents ON DELETE SET NULL (document_id)
);
CREATE INDEX kept_files_of_document ON kept_files (tenant_id, bank_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX kept_files_unheld ON kept_files (created_at) WHERE document_id IS NULL;
COMMENT ON COLUMN kept_files.document_id IS 'the document whose text was read from the file; null before it is written and after it is gone';
COMMENT ON COLUMN kept_files.held_at IS 'when a document was first written from it; null: none was yet';
COMMENT ON COLUMN kept_files.is_condemned IS 'its bytes are being deleted: no document may hold it any more';

ALTER TABLE kept_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE kept_files FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON kept_files USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY route_kept_files ON kept_files FOR SELECT TO hindsight_router USING (true);
GRANT SELECT ON kept_files TO hindsight_read, hindsight_write, hindsight_router;
GRANT INSERT, UPDATE, DELETE ON kept_files TO hindsight_write;

-- Banks with files that no document holds any more, or none came to hold for so long with nobody at work on it.
CREATE FUNCTION due_work(at_most integer, unheld_seconds bigint)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT DISTINCT u.tenant_id, 'kept_files', u.bank_id, u.bank_id
    FROM (SELECT k.tenant_id, k.bank_id FROM kept_files k
          WHERE k.document_id IS NULL
            AND (k.is_condemned OR k.held_at IS NOT NULL
                 OR k.created_at < now() - make_interval(secs => unheld_seconds)
                    AND NOT EXISTS (SELECT FROM operations o
                                    WHERE o.tenant_id = k.tenant_id AND o.operation_id IN (k.operation_id, k.retain_operation_id)
                                      AND o.status IN ('pending', 'processing')))
          ORDER BY k.created_at LIMIT at_most) AS u
$$;
REVOKE ALL ON FUNCTION due_work(integer, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, bigint) TO hindsight_write;
ALTER FUNCTION due_work(integer, bigint) OWNER TO hindsight_router;
