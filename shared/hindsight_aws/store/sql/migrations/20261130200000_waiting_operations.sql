-- Operations that wait for consolidation take one place of a bank's in due_work, and none where their tenant is parked.
-- depends: 20261130130000_tenant_limits

DROP FUNCTION due_work(integer, boolean, boolean, text, timestamptz);
-- Work whose time has come and that nobody holds, of each kind that which has been due for longest; a scope or bank comes once.
-- Model work of tenants that are parked at `moment` (null: now) is not told, and takes no place from others.
-- A scope whose last worker never gave its lease back comes after all others: scopes that workers die of starve nobody.
-- What failed together is tried again at times a little apart: up to a quarter of the delay later, by scope.
-- Operations that end with other work come in no order, for the same reason: nothing the sweep does moves them on.  A bank comes
-- once, by one of its own: all of them are ended together.  Those of a parked tenant that wait for its work take no place.
-- A shadow whose facts are all through waits to take its scope's place.
-- `server_policy` is a digest of the server's own settings: banks whose scopes were last looked through under others are told.
-- The flags are the server's defaults for banks that do not say; a scope counts when its bank consolidates by itself or somebody asked.
-- `limits`: a tenant with a daily limit that used models a moment ago, or of whose alerts nobody was told yet.
CREATE FUNCTION due_work(at_most integer, observations boolean, auto_consolidation boolean, server_policy text DEFAULT NULL,
                         moment timestamptz DEFAULT NULL)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    (SELECT o.tenant_id, 'operation:' || o.kind, o.bank_id, o.operation_id
     FROM operations o
     WHERE o.status IN ('pending', 'processing') AND o.due_at <= now() AND o.lease_until < now()
       AND o.kind NOT IN ('consolidation', 'policy_rebuild')
       AND (o.kind NOT IN ('retain', 'refresh_mental_model') OR NOT EXISTS (
           SELECT FROM tenant_parking k WHERE k.tenant_id = o.tenant_id AND k.parked_until > coalesce(moment, now())))
       AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
     ORDER BY o.due_at LIMIT at_most)
    UNION ALL
    (SELECT o.tenant_id, 'operation:' || o.kind, o.bank_id, (array_agg(o.operation_id ORDER BY o.due_at))[1]
     FROM operations o
     WHERE o.status IN ('pending', 'processing') AND o.due_at <= now() AND o.kind IN ('consolidation', 'policy_rebuild')
       AND (NOT EXISTS (SELECT FROM tenant_parking k WHERE k.tenant_id = o.tenant_id AND k.parked_until > coalesce(moment, now()))
            OR NOT EXISTS (SELECT FROM consolidation_work w
                           WHERE w.tenant_id = o.tenant_id AND w.bank_id = o.bank_id AND w.state = 'pending' AND w.requested)
               AND NOT EXISTS (SELECT FROM scopes s WHERE s.tenant_id = o.tenant_id AND s.bank_id = o.bank_id AND s.rebuilds IS NOT NULL))
     GROUP BY o.tenant_id, o.bank_id, o.kind
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
       AND NOT EXISTS (SELECT FROM tenant_parking k WHERE k.tenant_id = d.tenant_id AND k.parked_until > coalesce(moment, now()))
     GROUP BY d.tenant_id, d.bank_id, d.scope_id, s.lease_until ORDER BY s.lease_until, min(d.due_at) LIMIT at_most)
    UNION ALL
    (SELECT w.tenant_id, 'revival', w.bank_id, w.scope_id
     FROM consolidation_work w
     JOIN banks b ON b.tenant_id = w.tenant_id AND b.bank_id = w.bank_id
     WHERE w.state = 'failed' AND w.revivals <= 3
       AND w.failed_at + make_interval(secs => 300 * 2 ^ w.revivals * (1 + 0.25 * (hashtextextended(w.scope_id::text, 0) & 1023) / 1023.0)) <= now()
       AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND (w.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
       AND NOT EXISTS (SELECT FROM tenant_parking k WHERE k.tenant_id = w.tenant_id AND k.parked_until > coalesce(moment, now()))
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
       AND NOT EXISTS (SELECT FROM tenant_parking k WHERE k.tenant_id = s.tenant_id AND k.parked_until > coalesce(moment, now()))
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
    UNION ALL
    (SELECT l.tenant_id, 'limits', l.tenant_id, l.tenant_id
     FROM tenant_limits l
     WHERE (l.tokens_per_day IS NOT NULL OR l.usd_per_day IS NOT NULL OR l.requests_per_day IS NOT NULL)
       AND (EXISTS (SELECT FROM limit_alerts a WHERE a.tenant_id = l.tenant_id AND a.told_at IS NULL)
            OR EXISTS (SELECT FROM usage_ledger u WHERE u.tenant_id = l.tenant_id AND u.at > now() - interval '15 minutes'))
     ORDER BY random() LIMIT at_most)
$$;
REVOKE ALL ON FUNCTION due_work(integer, boolean, boolean, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, boolean, boolean, text, timestamptz) TO hindsight_write;
ALTER FUNCTION due_work(integer, boolean, boolean, text, timestamptz) OWNER TO hindsight_router;
