-- Chunks know their part and what decides their facts; documents are found by their body, unfinished operations by bank.
-- depends: 20261129000300_isolation

ALTER TABLE chunks ADD COLUMN part integer, ADD COLUMN fingerprint text;
COMMENT ON COLUMN chunks.part IS 'place of its part in retain_params.parts; null for chunks older than the column';
COMMENT ON COLUMN chunks.fingerprint IS 'digest of text, context, given date and given entities: a chunk of equal fingerprint keeps its facts when its document is retained again';

CREATE INDEX documents_body ON documents (tenant_id, bank_id, content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX document_revisions_recent ON document_revisions (tenant_id, bank_id, document_id, created_at DESC, revision_id);
CREATE INDEX invalidated_memory_units_document ON invalidated_memory_units (tenant_id, bank_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX operations_unfinished ON operations (tenant_id, bank_id, operation_id) WHERE status IN ('failed', 'cancelled');
