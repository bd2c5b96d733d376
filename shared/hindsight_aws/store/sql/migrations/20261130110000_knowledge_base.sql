-- The knowledge base of a bank: folders and pages, where the text of a page is that of its mental model.
-- depends: 20261130001500_mental_models 20261130002310_audit_log

CREATE TABLE knowledge_pages (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    node_id text NOT NULL CHECK (octet_length(node_id) BETWEEN 1 AND 64),
    parent_id text,
    kind text NOT NULL CHECK (kind IN ('folder', 'page')),
    name text NOT NULL CHECK (char_length(name) <= 256),
    page_id uuid,
    named_by jsonb,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    named_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, bank_id, node_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, parent_id) REFERENCES knowledge_pages,
    FOREIGN KEY (tenant_id, bank_id, page_id) REFERENCES mental_models ON DELETE CASCADE,
    CHECK ((kind = 'page') = (page_id IS NOT NULL)),
    CHECK ((kind = 'folder') = (named_by IS NOT NULL)),
    CHECK (parent_id <> node_id)
);
CREATE UNIQUE INDEX knowledge_pages_model ON knowledge_pages (tenant_id, bank_id, page_id) WHERE page_id IS NOT NULL;
CREATE UNIQUE INDEX knowledge_pages_name ON knowledge_pages (tenant_id, bank_id, coalesce(parent_id, ''), lower(name)) WHERE kind = 'page';
CREATE INDEX knowledge_pages_parent ON knowledge_pages (tenant_id, bank_id, parent_id) WHERE parent_id IS NOT NULL;
COMMENT ON TABLE knowledge_pages IS 'deleting a mental model deletes its page; a folder is deleted when nothing is in it any more';
COMMENT ON COLUMN knowledge_pages.name IS 'of a page: the name of its mental model too; of the pages of a folder no two are alike but for capitals';
COMMENT ON COLUMN knowledge_pages.named_by IS 'of a folder: who named it last, and what their key could see; of a page its model says so';

ALTER TABLE knowledge_pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE knowledge_pages FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON knowledge_pages USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
GRANT SELECT ON knowledge_pages TO hindsight_read, hindsight_write;
GRANT INSERT, UPDATE, DELETE ON knowledge_pages TO hindsight_write;
