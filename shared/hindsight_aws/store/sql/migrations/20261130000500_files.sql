-- Uploaded files: the uploads that were announced, and what file a document was made from.
-- depends: 20261129000300_isolation

CREATE TABLE uploads (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    upload_id uuid NOT NULL,
    subject text NOT NULL,
    object_key text NOT NULL,
    filename text NOT NULL,
    content_type text NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    operation_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, upload_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE INDEX uploads_old ON uploads (tenant_id, bank_id, created_at);
COMMENT ON COLUMN uploads.operation_id IS 'the operation that retains the file: named again, an upload is answered with it';

ALTER TABLE uploads ENABLE ROW LEVEL SECURITY;
ALTER TABLE uploads FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON uploads
    USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
GRANT SELECT ON uploads TO hindsight_read, hindsight_write;
GRANT INSERT, UPDATE, DELETE ON uploads TO hindsight_write;

ALTER TABLE documents
    ADD COLUMN file_original_name text,
    ADD COLUMN file_content_type text;
COMMENT ON COLUMN documents.file_original_name IS 'name of the uploaded file whose text this is; null for text that came as text';
