-- Mental models: pages with their history, what their texts rest on, and the marks and schedules that have them refreshed.
-- depends: 20261130000800_schedules

CREATE TABLE mental_models (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    page_id uuid NOT NULL,
    model_id text NOT NULL CHECK (octet_length(model_id) BETWEEN 1 AND 256),
    name text NOT NULL,
    source_query text NOT NULL,
    content text NOT NULL DEFAULT '',
    structure jsonb,
    embedding halfvec(512),
    embedding_model text,
    tags text[] NOT NULL DEFAULT '{}',
    max_tokens integer NOT NULL CHECK (max_tokens BETWEEN 256 AND 8192),
    trigger jsonb NOT NULL DEFAULT '{}',
    creator jsonb NOT NULL,
    sight_types text[],
    sight_scopes text[],
    scope_types text[] NOT NULL,
    scope_predicate text,
    scope_variables jsonb,
    stale_predicate text,
    stale_variables jsonb,
    response jsonb,
    version bigint NOT NULL DEFAULT 0,
    written_query text,
    is_paused boolean NOT NULL DEFAULT false,
    seen_snapshot pg_snapshot,
    last_refreshed_at timestamptz,
    last_full_refreshed_at timestamptz,
    last_memory_seen_at timestamptz,
    last_refresh_failed_at timestamptz,
    due_at timestamptz,
    mend_at timestamptz NOT NULL DEFAULT '-infinity',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, page_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
ALTER TABLE mental_models ALTER COLUMN embedding SET STORAGE MAIN;
CREATE UNIQUE INDEX mental_models_id ON mental_models (tenant_id, bank_id, model_id);
CREATE INDEX mental_models_recent ON mental_models (tenant_id, bank_id, last_refreshed_at DESC NULLS LAST, model_id DESC);
CREATE INDEX mental_models_scheduled ON mental_models (due_at) WHERE due_at IS NOT NULL;
COMMENT ON COLUMN mental_models.sight_types IS 'the fact types its creator could see; null: all';
COMMENT ON COLUMN mental_models.sight_scopes IS 'the exact scopes its creator could see, each as JSON; null: no such limit';
COMMENT ON COLUMN mental_models.scope_predicate IS 'which memories it is written from, as a jsonpath over their tags; null: whatever their tags';
COMMENT ON COLUMN mental_models.stale_predicate IS 'which memories make it stale: untagged ones never do so to a model with tags, though it may read them';
COMMENT ON COLUMN mental_models.seen_snapshot IS 'what the last refresh could see: a memory committed later is new whatever time it carries';
COMMENT ON COLUMN mental_models.last_memory_seen_at IS 'the latest change to a memory of its scope that a refresh saw';
COMMENT ON COLUMN mental_models.due_at IS 'when its schedule is looked at next';
COMMENT ON COLUMN mental_models.mend_at IS 'not before this is a deletion that it has not been mended after looked at again';

CREATE TABLE mental_model_revisions (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    revision_id uuid NOT NULL,
    page_id uuid NOT NULL,
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL CHECK (kind IN ('version', 'failure')),
    version bigint NOT NULL,
    content text,
    response jsonb,
    outcome text,
    failure_reason text,
    error_message text,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, revision_id),
    FOREIGN KEY (tenant_id, bank_id, page_id) REFERENCES mental_models ON DELETE CASCADE
);
CREATE INDEX mental_model_revisions_of ON mental_model_revisions (tenant_id, bank_id, page_id, kind, sequence DESC);
COMMENT ON COLUMN mental_model_revisions.content IS 'the text of that version; null once something it rested on is gone';

-- What each kept version of a page rests on.  When a memory goes, `memory_id` becomes null: the page is stale, and its text withheld.
CREATE TABLE mental_model_citations (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    page_id uuid NOT NULL,
    version bigint NOT NULL,
    cited_id uuid NOT NULL,
    memory_id uuid,
    kind text NOT NULL CHECK (kind IN ('world', 'experience', 'observation')),
    text text,
    PRIMARY KEY (tenant_id, bank_id, page_id, version, cited_id),
    FOREIGN KEY (tenant_id, bank_id, page_id) REFERENCES mental_models ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, memory_id) REFERENCES memory_units ON DELETE SET NULL (memory_id)
);
CREATE INDEX mental_model_citations_memory ON mental_model_citations (tenant_id, bank_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX mental_model_citations_gone ON mental_model_citations (tenant_id, bank_id, page_id) WHERE memory_id IS NULL;
COMMENT ON COLUMN mental_model_citations.text IS 'of the current version only: what has to be taken out of the page if the memory goes; read by nobody else';

-- A change to memories is found by when it was made.
CREATE INDEX memory_units_updated ON memory_units (tenant_id, bank_id, updated_at);

ALTER TABLE scopes ADD COLUMN unread_since timestamptz;
CREATE INDEX scopes_unread ON scopes (unread_since) WHERE unread_since IS NOT NULL;
COMMENT ON COLUMN scopes.unread_since IS 'when its observations first changed since the bank''s mental models were last looked at';

-- One refresh of a model waits at most, and one runs at most.
ALTER TABLE operations ADD COLUMN page_id uuid;
CREATE UNIQUE INDEX operations_refresh_waits ON operations (tenant_id, bank_id, page_id) WHERE page_id IS NOT NULL AND status = 'pending';
CREATE UNIQUE INDEX operations_refresh_runs ON operations (tenant_id, bank_id, page_id) WHERE page_id IS NOT NULL AND status = 'processing';

DO $$
DECLARE
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['mental_models', 'mental_model_revisions', 'mental_model_citations'] LOOP
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
CREATE POLICY route_models ON mental_models FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_citations ON mental_model_citations FOR SELECT TO hindsight_router USING (true);
GRANT SELECT ON mental_models, mental_model_citations TO hindsight_router;

-- Whether a refresh that saw what `snapshot` shows, up to a change made at `seen`, missed a row: one that changed later, or one whose
-- transaction was still open then.  `xmin` has lost its upper half, which follows from there being fewer than 2^32 ids in use; the
-- margin lets the reader's own id through.
-- One expression, so that it is put in where it is used: a call for each row would cost thirty times as much.
CREATE FUNCTION is_unseen(updated_at timestamptz, row_xmin xid, seen timestamptz, snapshot pg_snapshot) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT seen IS NULL OR updated_at > seen OR (snapshot IS NOT NULL AND NOT pg_visible_in_snapshot(greatest(
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1048576
        - ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1048576 - row_xmin::text::bigint) & 4294967295),
        3)::text::xid8, snapshot))
$$;

-- Mental models whose schedule is to be looked at, those that rest on what was deleted, and banks whose models consolidation
-- concerns and whose workers forgot to look.
CREATE FUNCTION due_work(at_most integer)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    (SELECT m.tenant_id, 'page_schedule', m.bank_id, m.page_id
     FROM mental_models m WHERE m.due_at <= now() ORDER BY m.due_at LIMIT at_most)
    UNION ALL
    (SELECT m.tenant_id, 'page_deletion', m.bank_id, m.page_id
     FROM (SELECT DISTINCT c.tenant_id, c.bank_id, c.page_id FROM mental_model_citations c WHERE c.memory_id IS NULL) AS gone
     JOIN mental_models m ON m.tenant_id = gone.tenant_id AND m.bank_id = gone.bank_id AND m.page_id = gone.page_id
     WHERE m.mend_at <= now() ORDER BY m.mend_at LIMIT at_most)
    UNION ALL
    (SELECT s.tenant_id, 'pages', s.bank_id, s.bank_id
     FROM scopes s WHERE s.unread_since <= now() - interval '5 minutes' AND s.lease_until < now()
     GROUP BY s.tenant_id, s.bank_id ORDER BY min(s.unread_since) LIMIT at_most)
$$;
REVOKE ALL ON FUNCTION due_work(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer) TO hindsight_write;
ALTER FUNCTION due_work(integer) OWNER TO hindsight_router;
