-- How much work waits and how much is given up over all tenants, as the sweep measures it.
-- depends: 20261130130000_tenant_limits 20261130140000_erasures

-- Amounts and no ids.  `due`: rows that are due and unheld; `oldest`: seconds since the first of them became due; `failed`: rows
-- that nothing brings back but somebody's call, so not what the sweep revives, nor a parent beside its children; `oldest_fact`:
-- seconds since the first fact was retained that is pending in a scope of its own, held, deferred or not; `parked`: tenants.
-- What parked and suspended tenants have, and facts of banks that do not consolidate by themselves, count as due for nobody.
-- It reads what due_work reads of pending rows, once, and the failed ones by their partial indexes: never what is done.
CREATE FUNCTION due_work(observations boolean, auto_consolidation boolean, moment timestamptz, states text[])
RETURNS TABLE (measure text, kind text, amount double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    WITH parked AS MATERIALIZED (
        SELECT k.tenant_id FROM tenant_parking k WHERE k.parked_until > coalesce(moment, now())
    ), facts AS MATERIALIZED (
        SELECT p.due, p.due_at, p.created_at, s.lease_until < now() AS is_free, s.rebuilds IS NULL AS is_own
        FROM (SELECT w.tenant_id, w.bank_id, w.scope_id, w.requested, count(*) FILTER (WHERE w.due_at <= now()) AS due,
                     min(w.due_at) AS due_at, min(w.created_at) AS created_at
              FROM consolidation_work w WHERE w.state = 'pending'
              GROUP BY w.tenant_id, w.bank_id, w.scope_id, w.requested) AS p
        JOIN scopes s ON s.tenant_id = p.tenant_id AND s.bank_id = p.bank_id AND s.scope_id = p.scope_id
        JOIN banks b ON b.tenant_id = p.tenant_id AND b.bank_id = p.bank_id
        WHERE coalesce((b.config ->> 'enable_observations')::boolean, observations)
          AND (p.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
          AND p.tenant_id NOT IN (SELECT k.tenant_id FROM parked k)
    ), waiting AS (
        SELECT 'operation:' || o.kind AS kind, 1::bigint AS due, o.due_at
        FROM operations o
        WHERE o.status IN ('pending', 'processing') AND o.due_at <= now() AND o.lease_until < now()
          AND o.kind NOT IN ('consolidation', 'policy_rebuild')
          AND (o.kind = 'file_convert_retain' OR o.tenant_id NOT IN (SELECT k.tenant_id FROM parked k))
          AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
        UNION ALL
        SELECT 'consolidation', f.due, f.due_at FROM facts f WHERE f.is_free AND f.due > 0
        UNION ALL
        SELECT 'links', 1, l.due_at
        FROM link_maintenance l JOIN banks b ON b.tenant_id = l.tenant_id AND b.bank_id = l.bank_id
        WHERE l.due_at <= now() AND b.link_lease_until < now()
        UNION ALL
        SELECT 'reflect', 1, r.deadline_at FROM reflect_runs r WHERE r.status = 'running' AND r.deadline_at < now()
        UNION ALL
        SELECT 'webhook', 1, d.due_at FROM webhook_deliveries d WHERE d.status = 'pending' AND d.due_at <= now() AND d.lease_until < now()
        UNION ALL
        SELECT 'erasure', 1, e.due_at
        FROM erasures e WHERE e.state <> 'signed' AND e.state = ANY (states) AND e.due_at <= now() AND e.lease_until < now()
    ), summed AS (
        SELECT w.kind, sum(w.due) AS due, extract(epoch FROM now() - min(w.due_at)) AS oldest FROM waiting w GROUP BY w.kind
    )
    SELECT 'due', s.kind, s.due::double precision FROM summed s
    UNION ALL
    SELECT 'oldest', s.kind, s.oldest::double precision FROM summed s
    UNION ALL
    SELECT 'oldest_fact', NULL, greatest(extract(epoch FROM now() - min(f.created_at)), 0)::double precision
    FROM facts f WHERE f.is_own HAVING count(*) > 0
    UNION ALL
    SELECT 'failed', 'operation:' || o.kind, count(*)::double precision
    FROM operations o
    WHERE o.status = 'failed' AND o.kind NOT IN ('consolidation', 'policy_rebuild')
      AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
    GROUP BY o.kind
    UNION ALL
    SELECT 'failed', 'consolidation', count(*)::double precision
    FROM consolidation_work w WHERE w.state = 'failed' AND w.revivals > 3 HAVING count(*) > 0
    UNION ALL
    SELECT 'parked', NULL, count(*)::double precision FROM parked
$$;
REVOKE ALL ON FUNCTION due_work(boolean, boolean, timestamptz, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(boolean, boolean, timestamptz, text[]) TO hindsight_write;
ALTER FUNCTION due_work(boolean, boolean, timestamptz, text[]) OWNER TO hindsight_router;
