-- The work itself: operations, scopes and their consolidation, evidence and revisions, reflect runs, the ledger.
-- depends: 20261129000100_documents_and_memories

CREATE TABLE operations (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    parent_id uuid,
    kind text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    subject text NOT NULL,
    payload jsonb NOT NULL DEFAULT '{}',
    items_count integer NOT NULL DEFAULT 0,
    document_external_id text,
    document_id uuid,
    document_ids uuid[] NOT NULL DEFAULT '{}',
    result jsonb NOT NULL DEFAULT '{}',
    progress jsonb,
    error_message text,
    error_kind text,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    fence bigint NOT NULL DEFAULT 0,
    woken boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    PRIMARY KEY (tenant_id, bank_id, operation_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, parent_id) REFERENCES operations ON DELETE CASCADE
);
CREATE UNIQUE INDEX operations_id ON operations (tenant_id, operation_id);
CREATE INDEX operations_recent ON operations (tenant_id, bank_id, created_at DESC, operation_id);
CREATE INDEX operations_children ON operations (tenant_id, bank_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX operations_open ON operations (tenant_id, bank_id, created_at, operation_id) WHERE status IN ('pending', 'processing');
COMMENT ON COLUMN operations.document_ids IS 'documents the caller named: their operations run one at a time, in order of submission';
CREATE INDEX operations_due ON operations (due_at) WHERE status IN ('pending', 'processing');

-- What model calls gave, until the operation that paid for them commits: a retry does not pay again.
CREATE TABLE kept_extractions (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    extraction_key text NOT NULL,
    extraction jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, operation_id, extraction_key),
    FOREIGN KEY (tenant_id, bank_id, operation_id) REFERENCES operations ON DELETE CASCADE
);

CREATE TABLE scopes (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    scope_key text NOT NULL,
    tags text[] NOT NULL,
    policy_hash text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    fence bigint NOT NULL DEFAULT 0,
    woken boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, scope_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE UNIQUE INDEX scopes_key ON scopes (tenant_id, bank_id, scope_key);
COMMENT ON COLUMN scopes.scope_key IS 'digest of the exact, sorted, distinct tag set: equality of scopes is equality of this key';

ALTER TABLE memory_units ADD FOREIGN KEY (tenant_id, bank_id, scope_id) REFERENCES scopes ON DELETE CASCADE;

CREATE TABLE consolidation_work (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    work_id uuid NOT NULL,
    fact_id uuid NOT NULL,
    scope_id uuid,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
    outcome text CHECK (outcome IN ('created', 'updated', 'evidence', 'merged', 'multiple', 'capped', 'not_durable', 'no_scope')),
    error text,
    attempts integer NOT NULL DEFAULT 0,
    looks integer NOT NULL DEFAULT 0,
    refused_delete boolean NOT NULL DEFAULT false,
    deferrals integer NOT NULL DEFAULT 0,
    revivals integer NOT NULL DEFAULT 0,
    requested boolean NOT NULL DEFAULT false,
    due_at timestamptz NOT NULL DEFAULT now(),
    run_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    done_at timestamptz,
    failed_at timestamptz,
    PRIMARY KEY (tenant_id, bank_id, work_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, bank_id, fact_id, scope_id),
    CHECK (scope_id IS NOT NULL OR (state = 'done' AND outcome = 'no_scope')),
    FOREIGN KEY (tenant_id, bank_id, fact_id) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, scope_id) REFERENCES scopes ON DELETE CASCADE
);
CREATE INDEX consolidation_work_pending ON consolidation_work (tenant_id, bank_id, scope_id, due_at) WHERE state = 'pending';
CREATE INDEX consolidation_work_failed ON consolidation_work (tenant_id, bank_id, scope_id) WHERE state = 'failed';
CREATE INDEX consolidation_work_revivable ON consolidation_work (failed_at) WHERE state = 'failed' AND revivals <= 3;
CREATE INDEX consolidation_work_due ON consolidation_work (due_at) WHERE state = 'pending';

CREATE TABLE consolidation_runs (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    run_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    operation_id uuid,
    fence bigint NOT NULL,
    policy_hash text NOT NULL,
    strategy_index integer,
    strategy_name text,
    prompt text NOT NULL,
    model_id text NOT NULL,
    status text NOT NULL CHECK (status IN ('applied', 'discarded', 'failed')),
    counts jsonb NOT NULL DEFAULT '{}',
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, run_id),
    FOREIGN KEY (tenant_id, bank_id, scope_id) REFERENCES scopes ON DELETE CASCADE
);

CREATE TABLE observation_evidence (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    observation_id uuid NOT NULL,
    fact_id uuid NOT NULL,
    quote text NOT NULL CHECK (quote <> ''),
    origin text NOT NULL CHECK (origin IN ('model', 'whole')),
    run_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, observation_id, fact_id),
    CHECK (observation_id <> fact_id),
    FOREIGN KEY (tenant_id, bank_id, observation_id) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, fact_id) REFERENCES memory_units ON DELETE CASCADE
);
CREATE INDEX observation_evidence_fact ON observation_evidence (tenant_id, bank_id, fact_id);

CREATE TABLE observation_revisions (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    revision_id uuid NOT NULL,
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    observation_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('create', 'rewrite', 'merge', 'evidence', 'delete')),
    text text,
    tags text[] NOT NULL,
    occurred_start timestamptz,
    occurred_end timestamptz,
    mentioned_at timestamptz,
    evidence jsonb NOT NULL DEFAULT '[]',
    added_fact_ids uuid[] NOT NULL DEFAULT '{}',
    merged_into uuid,
    run_id uuid,
    provenance jsonb NOT NULL DEFAULT '{}',
    changed_at timestamptz NOT NULL DEFAULT now(),
    blanked_at timestamptz,
    PRIMARY KEY (tenant_id, bank_id, revision_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE INDEX observation_revisions_of ON observation_revisions (tenant_id, bank_id, observation_id, sequence);

-- Which facts a revision rested on: finds what must be blanked when a fact goes, without reading every revision of the bank.
CREATE TABLE revision_facts (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    fact_id uuid NOT NULL,
    revision_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, bank_id, fact_id, revision_id),
    FOREIGN KEY (tenant_id, bank_id, revision_id) REFERENCES observation_revisions ON DELETE CASCADE
);
CREATE INDEX revision_facts_revision ON revision_facts (tenant_id, bank_id, revision_id);

CREATE TABLE reflect_runs (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    run_id uuid NOT NULL,
    request_hash text NOT NULL,
    subject text NOT NULL,
    request jsonb NOT NULL,
    state jsonb NOT NULL DEFAULT '{}',
    action jsonb,
    turn integer NOT NULL DEFAULT 0,
    status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
    answer jsonb,
    error text,
    error_message text,
    delivered_at timestamptz,
    bank_write_at timestamptz,
    deadline_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, bank_id, run_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE INDEX reflect_runs_request ON reflect_runs (tenant_id, bank_id, request_hash, created_at DESC);
CREATE UNIQUE INDEX reflect_runs_running ON reflect_runs (tenant_id, bank_id, request_hash) WHERE status = 'running';
CREATE INDEX reflect_runs_deadline ON reflect_runs (deadline_at) WHERE status = 'running';
CREATE INDEX reflect_runs_ended ON reflect_runs (tenant_id, bank_id, ended_at) WHERE ended_at IS NOT NULL;
COMMENT ON COLUMN reflect_runs.error IS 'why the run has no answer, named as the errors of the product are';
COMMENT ON COLUMN reflect_runs.bank_write_at IS 'the last write to the bank when the run began: a later one makes its answer too old to share';

CREATE TABLE reflect_steps (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    run_id uuid NOT NULL,
    turn integer NOT NULL,
    step text NOT NULL,
    input jsonb NOT NULL DEFAULT '{}',
    output jsonb,
    duration_ms integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, run_id, turn, step),
    FOREIGN KEY (tenant_id, bank_id, run_id) REFERENCES reflect_runs ON DELETE CASCADE
);

-- Model usage outlives its bank: the bank's id is kept as text and nothing cascades here.
CREATE TABLE usage_ledger (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    entry_id uuid NOT NULL,
    bank_id uuid,
    operation_id uuid,
    run_id uuid,
    subject text,
    task text NOT NULL,
    model_id text NOT NULL,
    prompt text,
    status text NOT NULL,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cache_read_tokens bigint NOT NULL DEFAULT 0,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    calls integer NOT NULL DEFAULT 1,
    usd numeric(18, 9),
    latency_ms integer,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, entry_id)
);
CREATE INDEX usage_ledger_at ON usage_ledger (tenant_id, at);
CREATE INDEX usage_ledger_bank ON usage_ledger (tenant_id, bank_id, at);
COMMENT ON COLUMN usage_ledger.usd IS 'null when the price table does not know the model: unknown is never shown as free';
