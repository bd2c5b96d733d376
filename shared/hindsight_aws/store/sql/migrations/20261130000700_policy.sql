-- Policy of scopes: generations in the making, former ones under seal, and settings kept as they were written.
-- depends: 20261129000300_isolation

-- json keeps the order of keys, jsonb does not: settings are given back as they came.
ALTER TABLE banks ALTER COLUMN config DROP DEFAULT;
ALTER TABLE banks ALTER COLUMN config TYPE json USING config::json;
ALTER TABLE banks ALTER COLUMN config SET DEFAULT '{}';
ALTER TABLE banks ADD COLUMN policy_seen text;
COMMENT ON COLUMN banks.policy_seen IS 'digest of the settings, the bank''s and the server''s, under which its scopes were last looked through';

-- A scope that is rebuilt has a shadow: a scope of its own in which the next generation is made, invisible because its observations
-- are of a type that no reader asks for.
ALTER TABLE scopes
    ADD COLUMN brief_hash text,
    ADD COLUMN rebuilds uuid,
    ADD COLUMN rebuild_forced boolean NOT NULL DEFAULT false,
    ADD COLUMN operation_id uuid,
    ADD COLUMN rebuild_failures integer NOT NULL DEFAULT 0,
    ADD COLUMN rebuild_after timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN rebuilt_at timestamptz,
    ADD FOREIGN KEY (tenant_id, bank_id, rebuilds) REFERENCES scopes ON DELETE CASCADE;
CREATE UNIQUE INDEX scopes_rebuilds ON scopes (tenant_id, bank_id, rebuilds) WHERE rebuilds IS NOT NULL;
CREATE INDEX scopes_operation ON scopes (tenant_id, bank_id, operation_id) WHERE operation_id IS NOT NULL;
COMMENT ON COLUMN scopes.brief_hash IS 'digest of the mission that every observation of the scope was written under';
COMMENT ON COLUMN scopes.rebuilds IS 'of a shadow: the scope whose next generation is made here';
COMMENT ON COLUMN scopes.operation_id IS 'of a shadow: the policy_rebuild that it is part of';

ALTER TABLE memory_units DROP CONSTRAINT memory_units_fact_type_check;
ALTER TABLE memory_units ADD CONSTRAINT memory_units_fact_type_check
    CHECK (fact_type IN ('world', 'experience', 'observation', 'shadow'));
ALTER TABLE memory_units DROP CONSTRAINT memory_units_check;
ALTER TABLE memory_units ADD CONSTRAINT memory_units_check
    CHECK ((fact_type IN ('observation', 'shadow')) = (scope_id IS NOT NULL));
ALTER TABLE memory_units DROP CONSTRAINT memory_units_check1;
ALTER TABLE memory_units ADD CONSTRAINT memory_units_check1
    CHECK (fact_type NOT IN ('observation', 'shadow') OR document_id IS NULL);
ALTER TABLE unit_terms DROP CONSTRAINT unit_terms_fact_type_check;
ALTER TABLE unit_terms ADD CONSTRAINT unit_terms_fact_type_check
    CHECK (fact_type IN ('world', 'experience', 'observation', 'shadow'));
COMMENT ON COLUMN memory_units.fact_type IS 'shadow: an observation of a generation in the making, which takes the place of the scope''s at once';

ALTER TABLE consolidation_work ADD COLUMN is_rebuild boolean NOT NULL DEFAULT false, ADD COLUMN fact_version bigint;
COMMENT ON COLUMN consolidation_work.is_rebuild IS 'work of a shadow: not counted where pending and failed facts are told';
COMMENT ON COLUMN consolidation_work.fact_version IS 'the version of the fact that the outcome is about';

ALTER TABLE consolidation_runs ADD COLUMN sealed_at timestamptz, ADD COLUMN reverted_at timestamptz, ADD COLUMN sequence bigint
    GENERATED ALWAYS AS IDENTITY;
CREATE INDEX consolidation_runs_recent ON consolidation_runs (tenant_id, bank_id, sequence DESC);
CREATE INDEX consolidation_work_scope ON consolidation_work (tenant_id, bank_id, scope_id, state) WHERE scope_id IS NOT NULL;
CREATE INDEX consolidation_work_run ON consolidation_work (tenant_id, bank_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX observation_revisions_run ON observation_revisions (tenant_id, bank_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX observation_revisions_scope ON observation_revisions (tenant_id, bank_id, scope_id);
ALTER TABLE observation_revisions DROP CONSTRAINT observation_revisions_kind_check;
ALTER TABLE observation_revisions ADD CONSTRAINT observation_revisions_kind_check
    CHECK (kind IN ('create', 'rewrite', 'merge', 'evidence', 'delete', 'revert'));

-- A former generation, kept for a set number of days for whoever owns the database: no function may read it.
CREATE TABLE sealed_generations (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    generation_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    fact_ids uuid[] NOT NULL,
    content jsonb NOT NULL,
    sealed_at timestamptz NOT NULL DEFAULT now(),
    delete_after timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, bank_id, generation_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
CREATE INDEX sealed_generations_due ON sealed_generations (delete_after);
ALTER TABLE sealed_generations ENABLE ROW LEVEL SECURITY;
ALTER TABLE sealed_generations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON sealed_generations
    USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY route_seals ON sealed_generations FOR SELECT TO hindsight_router USING (true);
GRANT SELECT (tenant_id, bank_id, generation_id, scope_id, fact_ids, delete_after) ON sealed_generations TO hindsight_write;
GRANT INSERT, DELETE ON sealed_generations TO hindsight_write;
GRANT SELECT (tenant_id, bank_id, generation_id, delete_after) ON sealed_generations TO hindsight_router;

DROP FUNCTION due_work(integer, boolean, boolean);
-- Work whose time has come and that nobody holds, of each kind that which has been due for longest; a scope or bank comes once.
-- A shadow whose facts are all through waits to take its scope's place.
-- `server_policy` is a digest of the server's own settings: banks whose scopes were last looked through under others are told.
-- The flags are the server's defaults for banks that do not say; a scope counts when its bank consolidates by itself or somebody asked.
CREATE FUNCTION due_work(at_most integer, observations boolean, auto_consolidation boolean, server_policy text DEFAULT NULL)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    (SELECT o.tenant_id, 'operation:' || o.kind, o.bank_id, o.operation_id
     FROM operations o
     WHERE o.status IN ('pending', 'processing') AND o.due_at <= now() AND o.lease_until < now()
       AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
     ORDER BY o.due_at LIMIT at_most)
    UNION ALL
    (SELECT d.tenant_id, 'consolidation', d.bank_id, d.scope_id
     FROM (SELECT w.tenant_id, w.bank_id, w.scope_id, w.requested, min(w.due_at) AS due_at
           FROM consolidation_work w WHERE w.state = 'pending' AND w.due_at <= now()
           GROUP BY w.tenant_id, w.bank_id, w.scope_id, w.requested) AS d
     JOIN scopes s ON s.tenant_id = d.tenant_id AND s.bank_id = d.bank_id AND s.scope_id = d.scope_id
     JOIN banks b ON b.tenant_id = d.tenant_id AND b.bank_id = d.bank_id
     WHERE s.lease_until < now() AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND (d.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
     GROUP BY d.tenant_id, d.bank_id, d.scope_id ORDER BY min(d.due_at) LIMIT at_most)
    UNION ALL
    (SELECT w.tenant_id, 'revival', w.bank_id, w.scope_id
     FROM consolidation_work w
     JOIN banks b ON b.tenant_id = w.tenant_id AND b.bank_id = w.bank_id
     WHERE w.state = 'failed' AND w.revivals <= 3 AND w.failed_at + make_interval(secs => 300 * 2 ^ w.revivals) <= now()
       AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND (w.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
     GROUP BY w.tenant_id, w.bank_id, w.scope_id ORDER BY min(w.failed_at) LIMIT at_most)
    UNION ALL
    (SELECT l.tenant_id, 'links', l.bank_id, l.bank_id
     FROM link_maintenance l JOIN banks b ON b.tenant_id = l.tenant_id AND b.bank_id = l.bank_id
     WHERE l.due_at <= now() AND b.link_lease_until < now()
     GROUP BY l.tenant_id, l.bank_id ORDER BY min(l.due_at) LIMIT at_most)
    UNION ALL
    (SELECT r.tenant_id, 'reflect', r.bank_id, r.run_id
     FROM reflect_runs r WHERE r.status = 'running' AND r.deadline_at < now()
     ORDER BY r.deadline_at LIMIT at_most)
    UNION ALL
    (SELECT s.tenant_id, 'consolidation', s.bank_id, s.scope_id
     FROM scopes s JOIN banks b ON b.tenant_id = s.tenant_id AND b.bank_id = s.bank_id
     WHERE s.rebuilds IS NOT NULL AND s.lease_until < now() AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND NOT EXISTS (SELECT FROM consolidation_work w WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id
                       AND (w.state = 'pending' OR w.state = 'failed' AND w.revivals <= 3))
     ORDER BY s.created_at LIMIT at_most)
    UNION ALL
    (SELECT b.tenant_id, 'policy', b.bank_id, b.bank_id
     FROM banks b
     WHERE server_policy IS NOT NULL AND b.policy_seen IS DISTINCT FROM md5(server_policy || b.config::text)
       AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation)
       AND EXISTS (SELECT FROM scopes s WHERE s.tenant_id = b.tenant_id AND s.bank_id = b.bank_id)
     ORDER BY b.updated_at LIMIT at_most)
    UNION ALL
    (SELECT g.tenant_id, 'seal', g.bank_id, g.bank_id
     FROM sealed_generations g WHERE g.delete_after <= now()
     GROUP BY g.tenant_id, g.bank_id ORDER BY min(g.delete_after) LIMIT at_most)
$$;

REVOKE ALL ON FUNCTION due_work(integer, boolean, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, boolean, boolean, text) TO hindsight_write;
ALTER FUNCTION due_work(integer, boolean, boolean, text) OWNER TO hindsight_router;
