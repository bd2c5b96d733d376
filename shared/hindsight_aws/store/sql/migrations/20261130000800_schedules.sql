-- What time brings: events for webhooks, windows in which near-duplicates are looked for, and a fair order of what is swept.
-- depends: 20261129000300_isolation 20261130000700_policy

-- What somebody may be told of; written in the commit that made it so, delivered elsewhere.
CREATE TABLE webhook_events (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event text NOT NULL,
    operation_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('completed', 'failed')),
    data jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, event_id),
    FOREIGN KEY (tenant_id, bank_id, operation_id) REFERENCES operations ON DELETE CASCADE
);
CREATE INDEX webhook_events_operation ON webhook_events (tenant_id, bank_id, operation_id);
COMMENT ON COLUMN webhook_events.event_id IS 'follows from the operation, its end and what it is about: the same event is one row however often it is told';

ALTER TABLE scopes ADD COLUMN unmeasured_since timestamptz;
CREATE INDEX scopes_unmeasured ON scopes (unmeasured_since) WHERE unmeasured_since IS NOT NULL AND rebuilds IS NULL;
COMMENT ON COLUMN scopes.unmeasured_since IS 'when its observations were first written to since near-duplicates were looked for';

-- One row for each look at a scope's near-duplicates.
CREATE TABLE compactions (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    window_start timestamptz NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT now(),
    done_at timestamptz,
    pairs integer,
    merged integer,
    PRIMARY KEY (tenant_id, bank_id, scope_id, window_start),
    FOREIGN KEY (tenant_id, bank_id, scope_id) REFERENCES scopes ON DELETE CASCADE
);

COMMENT ON COLUMN compactions.pairs IS 'near pairs that the look left as they were';

-- Observations of one scope that are near each other; `digest` is of both texts as they were compared.
CREATE TABLE near_duplicates (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    first_id uuid NOT NULL,
    second_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    similarity real NOT NULL,
    digest text NOT NULL,
    is_kept_apart boolean NOT NULL DEFAULT false,
    found_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, first_id, second_id),
    CHECK (first_id < second_id),
    FOREIGN KEY (tenant_id, bank_id, first_id) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, second_id) REFERENCES memory_units ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, scope_id) REFERENCES scopes ON DELETE CASCADE
);
CREATE INDEX near_duplicates_second ON near_duplicates (tenant_id, bank_id, second_id);
CREATE INDEX near_duplicates_scope ON near_duplicates (tenant_id, bank_id, scope_id);

DO $$
DECLARE
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['webhook_events', 'compactions', 'near_duplicates'] LOOP
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

-- Scopes whose near-duplicates are to be looked for, those that wait for longest first; each a little earlier or later
-- than the window says, always by as much, so that scopes written to together do not come together.
CREATE FUNCTION due_work(at_most integer, compaction_window interval)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT s.tenant_id, 'compaction', s.bank_id, s.scope_id
    FROM scopes s
    WHERE compaction_window > interval '0' AND s.rebuilds IS NULL AND s.lease_until < now()
      AND s.unmeasured_since <= now() - compaction_window * 0.75
      AND s.unmeasured_since <= now() - compaction_window * (0.75 + 0.5 * (hashtextextended(s.scope_id::text, 0) & 1023) / 1023.0)
    ORDER BY s.lease_until, s.unmeasured_since LIMIT at_most
$$;
REVOKE ALL ON FUNCTION due_work(integer, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, interval) TO hindsight_write;
ALTER FUNCTION due_work(integer, interval) OWNER TO hindsight_router;

DROP FUNCTION due_work(integer, boolean, boolean, text);
-- Work whose time has come and that nobody holds, of each kind that which has been due for longest; a scope or bank comes once.
-- A scope whose last worker never gave its lease back comes after all others: scopes that workers die of starve nobody.
-- What failed together is tried again at times a little apart: up to a quarter of the delay later, by scope.
-- Operations that end with other work come in no order, for the same reason: nothing the sweep does moves them on.
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
       AND o.kind NOT IN ('consolidation', 'policy_rebuild')
       AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
     ORDER BY o.due_at LIMIT at_most)
    UNION ALL
    (SELECT o.tenant_id, 'operation:' || o.kind, o.bank_id, o.operation_id
     FROM operations o
     WHERE o.status IN ('pending', 'processing') AND o.due_at <= now() AND o.kind IN ('consolidation', 'policy_rebuild')
     ORDER BY random() LIMIT at_most)
    UNION ALL
    (SELECT d.tenant_id, 'consolidation', d.bank_id, d.scope_id
     FROM (SELECT w.tenant_id, w.bank_id, w.scope_id, w.requested, min(w.due_at) AS due_at
           FROM consolidation_work w WHERE w.state = 'pending' AND w.due_at <= now()
           GROUP BY w.tenant_id, w.bank_id, w.scope_id, w.requested) AS d
     JOIN scopes s ON s.tenant_id = d.tenant_id AND s.bank_id = d.bank_id AND s.scope_id = d.scope_id
     JOIN banks b ON b.tenant_id = d.tenant_id AND b.bank_id = d.bank_id
     WHERE s.lease_until < now() AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND (d.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
     GROUP BY d.tenant_id, d.bank_id, d.scope_id, s.lease_until ORDER BY s.lease_until, min(d.due_at) LIMIT at_most)
    UNION ALL
    (SELECT w.tenant_id, 'revival', w.bank_id, w.scope_id
     FROM consolidation_work w
     JOIN banks b ON b.tenant_id = w.tenant_id AND b.bank_id = w.bank_id
     WHERE w.state = 'failed' AND w.revivals <= 3
       AND w.failed_at + make_interval(secs => 300 * 2 ^ w.revivals * (1 + 0.25 * (hashtextextended(w.scope_id::text, 0) & 1023) / 1023.0)) <= now()
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
     ORDER BY s.lease_until, s.created_at LIMIT at_most)
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
