-- Documents, chunks, facts and observations, entities and links.
-- depends: 20261129000000_tenants_and_banks

CREATE TABLE documents (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    document_id uuid NOT NULL,
    external_id text NOT NULL,
    original_text text,
    text_length integer NOT NULL DEFAULT 0,
    content_hash text,
    retain_params jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    version bigint NOT NULL DEFAULT 1,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    lease_holder uuid,
    fence bigint NOT NULL DEFAULT 0,
    is_pending boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, document_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE UNIQUE INDEX documents_external ON documents (tenant_id, bank_id, external_id);
CREATE INDEX documents_recent ON documents (tenant_id, bank_id, updated_at DESC, document_id);
COMMENT ON COLUMN documents.is_pending IS 'true until the first retain of the document commits: such a row only carries the lease and is shown to nobody';

CREATE TABLE document_revisions (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    document_id uuid NOT NULL,
    revision_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('retain', 'append', 'reprocess', 'retag', 'fact_edited', 'fact_invalidated', 'fact_restored',
                                       'fact_deleted', 'observations_cleared', 'consolidation')),
    operation_id uuid,
    facts_added integer NOT NULL DEFAULT 0,
    facts_removed integer NOT NULL DEFAULT 0,
    detail jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, document_id, revision_id),
    FOREIGN KEY (tenant_id, bank_id, document_id) REFERENCES documents ON DELETE CASCADE
);

CREATE TABLE chunks (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    document_id uuid NOT NULL,
    chunk_index integer NOT NULL,
    chunk_text text NOT NULL,
    content_hash text NOT NULL,
    extraction jsonb,
    extraction_key text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, document_id, chunk_index),
    FOREIGN KEY (tenant_id, bank_id, document_id) REFERENCES documents ON DELETE CASCADE
);
COMMENT ON COLUMN chunks.extraction IS 'the kept extraction result: a retry or a re-retain of the same chunk under the same extraction_key costs no model call';

CREATE TABLE memory_units (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    id uuid NOT NULL,
    fact_type text NOT NULL CHECK (fact_type IN ('world', 'experience', 'observation')),
    document_id uuid,
    chunk_index integer,
    ordinal integer NOT NULL DEFAULT 0,
    text text NOT NULL CHECK (text <> ''),
    context text,
    embedding halfvec(512),
    embedding_model text,
    event_date timestamptz,
    occurred_start timestamptz,
    occurred_end timestamptz,
    mentioned_at timestamptz,
    metadata jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    observation_scopes jsonb,
    scope_id uuid,
    proof_count integer NOT NULL DEFAULT 1,
    version bigint NOT NULL DEFAULT 1,
    terms integer NOT NULL DEFAULT 0,
    created_by jsonb,
    last_by jsonb,
    edited_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, document_id) REFERENCES documents ON DELETE CASCADE,
    CHECK ((fact_type = 'observation') = (scope_id IS NOT NULL)),
    CHECK (fact_type <> 'observation' OR document_id IS NULL)
);
ALTER TABLE memory_units ALTER COLUMN embedding SET STORAGE MAIN;
CREATE INDEX memory_units_type ON memory_units (tenant_id, bank_id, fact_type, id);
CREATE INDEX memory_units_document ON memory_units (tenant_id, bank_id, document_id, chunk_index, ordinal) WHERE document_id IS NOT NULL;
CREATE INDEX memory_units_scope ON memory_units (tenant_id, bank_id, scope_id, id) WHERE scope_id IS NOT NULL;
CREATE INDEX memory_units_recent ON memory_units (tenant_id, bank_id, mentioned_at DESC NULLS LAST, created_at DESC, id);
CREATE INDEX memory_units_untagged ON memory_units (tenant_id, bank_id, id) WHERE tags = '{}';
CREATE INDEX memory_units_event ON memory_units (tenant_id, bank_id, fact_type, event_date) WHERE event_date IS NOT NULL;
CREATE INDEX memory_units_world_vector ON memory_units USING hnsw (embedding halfvec_cosine_ops) WHERE fact_type = 'world';
CREATE INDEX memory_units_experience_vector ON memory_units USING hnsw (embedding halfvec_cosine_ops) WHERE fact_type = 'experience';
CREATE INDEX memory_units_observation_vector ON memory_units USING hnsw (embedding halfvec_cosine_ops) WHERE fact_type = 'observation';
COMMENT ON COLUMN memory_units.terms IS 'number of index terms: the document length of BM25';
COMMENT ON COLUMN memory_units.observation_scopes IS 'the scopes asked for at retain (mode word or list of tag lists), as sent';

-- Postings of the keyword arm. Plain equality is leakproof, so the app role can use these indexes under forced row-level security.
-- The fact type leads the term: BM25 counts within a type, and a caller's types cut the index range itself.
CREATE TABLE unit_terms (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    fact_type text NOT NULL CHECK (fact_type IN ('world', 'experience', 'observation')),
    term text NOT NULL,
    unit_id uuid NOT NULL,
    tf smallint NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (tenant_id, bank_id, fact_type, term, unit_id) INCLUDE (tf, length),
    FOREIGN KEY (tenant_id, bank_id, unit_id) REFERENCES memory_units ON DELETE CASCADE
);
-- The bank comes last: a table without statistics yet must not read all of a bank through this index to find one term.
CREATE INDEX unit_terms_unit ON unit_terms (tenant_id, unit_id, bank_id);

CREATE TABLE unit_tags (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    tag text NOT NULL,
    unit_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, bank_id, tag, unit_id),
    FOREIGN KEY (tenant_id, bank_id, unit_id) REFERENCES memory_units ON DELETE CASCADE
);
CREATE INDEX unit_tags_unit ON unit_tags (tenant_id, unit_id, bank_id);

CREATE TABLE invalidated_memory_units (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    id uuid NOT NULL,
    fact_type text NOT NULL CHECK (fact_type IN ('world', 'experience')),
    document_id uuid,
    chunk_index integer,
    ordinal integer NOT NULL DEFAULT 0,
    text text NOT NULL,
    context text,
    event_date timestamptz,
    occurred_start timestamptz,
    occurred_end timestamptz,
    mentioned_at timestamptz,
    metadata jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    observation_scopes jsonb,
    version bigint NOT NULL,
    entity_ids uuid[] NOT NULL DEFAULT '{}',
    causal_links jsonb NOT NULL DEFAULT '[]',
    reason text,
    edited_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    invalidated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, document_id) REFERENCES documents ON DELETE CASCADE
);

CREATE TABLE entities (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    canonical_name text NOT NULL CHECK (char_length(canonical_name) <= 512),
    name_key text NOT NULL,
    kind text NOT NULL DEFAULT 'regular' CHECK (kind IN ('regular', 'label')),
    mention_count integer NOT NULL DEFAULT 0,
    first_seen timestamptz NOT NULL DEFAULT now(),
    last_seen timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, entity_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE UNIQUE INDEX entities_name ON entities (tenant_id, bank_id, name_key);
COMMENT ON COLUMN entities.name_key IS 'the case-folded name that makes an entity unique in its bank, folded by the application alone';

CREATE TABLE unit_entities (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    unit_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, bank_id, unit_id, entity_id),
    FOREIGN KEY (tenant_id, bank_id, unit_id) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, entity_id) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX unit_entities_entity ON unit_entities (tenant_id, bank_id, entity_id, unit_id);

CREATE TABLE entity_cooccurrences (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    entity_id_1 uuid NOT NULL,
    entity_id_2 uuid NOT NULL,
    cooccurrences integer NOT NULL DEFAULT 1,
    last_cooccurred timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, entity_id_1, entity_id_2),
    CHECK (entity_id_1 < entity_id_2),
    FOREIGN KEY (tenant_id, bank_id, entity_id_1) REFERENCES entities ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, entity_id_2) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX entity_cooccurrences_second ON entity_cooccurrences (tenant_id, bank_id, entity_id_2);

CREATE TABLE memory_links (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    from_unit uuid NOT NULL,
    to_unit uuid NOT NULL,
    link_type text NOT NULL CHECK (link_type IN ('temporal', 'semantic', 'causes', 'caused_by', 'enables', 'prevents')),
    weight real NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0 AND 1),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, from_unit, to_unit, link_type),
    CHECK (from_unit <> to_unit),
    FOREIGN KEY (tenant_id, bank_id, from_unit) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, to_unit) REFERENCES memory_units ON DELETE CASCADE
);
CREATE INDEX memory_links_to ON memory_links (tenant_id, bank_id, to_unit, link_type);

CREATE TABLE link_maintenance (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    unit_id uuid NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, unit_id),
    FOREIGN KEY (tenant_id, bank_id, unit_id) REFERENCES memory_units ON DELETE CASCADE
);
