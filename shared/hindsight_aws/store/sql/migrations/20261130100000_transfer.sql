-- Transfers: archives of banks in the bucket, how far each one's work is, and banks that nobody sees until they are whole.
-- depends: 20261130002310_audit_log

CREATE TABLE transfers (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    archive_key text NOT NULL,
    is_offered boolean NOT NULL DEFAULT false,
    target_id uuid,
    member text,
    line bigint NOT NULL DEFAULT 0,
    counts jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, bank_id, operation_id),
    FOREIGN KEY (tenant_id, bank_id, operation_id) REFERENCES operations ON DELETE CASCADE
);
CREATE INDEX transfers_archive ON transfers (tenant_id, archive_key);
COMMENT ON COLUMN transfers.is_offered IS 'whether the archive may be downloaded: it is an export''s, and whole';
COMMENT ON COLUMN transfers.member IS 'the part of the archive that is being read; `line` of its lines are committed';

ALTER TABLE transfers ENABLE ROW LEVEL SECURITY;
ALTER TABLE transfers FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON transfers USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
GRANT SELECT ON transfers TO hindsight_read, hindsight_write;
GRANT INSERT, UPDATE, DELETE ON transfers TO hindsight_write;

-- A bank in the making goes with the operation that makes it: a bank that is deleted meanwhile leaves none behind.
ALTER TABLE banks
    ADD COLUMN restored_in uuid,
    ADD COLUMN restored_by uuid,
    ADD FOREIGN KEY (tenant_id, restored_in, restored_by) REFERENCES operations (tenant_id, bank_id, operation_id) ON DELETE CASCADE;
CREATE INDEX banks_restored ON banks (tenant_id, restored_in, restored_by) WHERE restored_by IS NOT NULL;
COMMENT ON COLUMN banks.restored_by IS 'the operation that is still writing the bank, which has no name until it is whole; null for every other bank';
