-- When the next work becomes due, so that the sweep of a paused database can be left out until then.
-- depends: 20261130130000_tenant_limits 20261130140000_erasures

-- Of each kind that workers wait for, the moment from which due_work will tell of the first row: the later of when it is
-- due and when whoever holds it, or what parks its tenant, lets go.  Operations that end with other work, policies, limits
-- and records that are only kept for some time are not here: what makes them due is a commit, or a sweep in any case.
CREATE FUNCTION due_work(observations boolean, auto_consolidation boolean, compaction_window interval, states text[],
                         everywhere boolean)
RETURNS TABLE (kind text, due_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT 'operation', min(greatest(o.due_at, o.lease_until,
                                     CASE WHEN o.kind IN ('retain', 'refresh_mental_model') THEN k.parked_until END))
    FROM operations o LEFT JOIN tenant_parking k ON k.tenant_id = o.tenant_id
    WHERE o.status IN ('pending', 'processing') AND o.kind NOT IN ('consolidation', 'policy_rebuild') AND isfinite(o.due_at)
      AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
    UNION ALL
    SELECT 'consolidation', min(greatest(w.due_at, s.lease_until, k.parked_until))
    FROM consolidation_work w
    JOIN scopes s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
    JOIN banks b ON b.tenant_id = w.tenant_id AND b.bank_id = w.bank_id
    LEFT JOIN tenant_parking k ON k.tenant_id = w.tenant_id
    WHERE w.state = 'pending' AND isfinite(w.due_at) AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
      AND (w.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
    UNION ALL
    SELECT 'revival', min(greatest(w.failed_at + make_interval(secs =>
               300 * 2 ^ w.revivals * (1 + 0.25 * (hashtextextended(w.scope_id::text, 0) & 1023) / 1023.0)), k.parked_until))
    FROM consolidation_work w
    JOIN banks b ON b.tenant_id = w.tenant_id AND b.bank_id = w.bank_id
    LEFT JOIN tenant_parking k ON k.tenant_id = w.tenant_id
    WHERE w.state = 'failed' AND w.revivals <= 3 AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
      AND (w.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
    UNION ALL
    SELECT 'links', min(greatest(l.due_at, b.link_lease_until))
    FROM link_maintenance l JOIN banks b ON b.tenant_id = l.tenant_id AND b.bank_id = l.bank_id
    UNION ALL
    SELECT 'reflect', min(r.deadline_at) FROM reflect_runs r WHERE r.status = 'running'
    UNION ALL
    SELECT 'rebuild', min(greatest(s.lease_until, s.created_at, k.parked_until))
    FROM scopes s
    JOIN banks b ON b.tenant_id = s.tenant_id AND b.bank_id = s.bank_id
    LEFT JOIN tenant_parking k ON k.tenant_id = s.tenant_id
    WHERE s.rebuilds IS NOT NULL AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
      AND NOT EXISTS (SELECT FROM consolidation_work w WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id
                      AND (w.state = 'pending' OR w.state = 'failed' AND w.revivals <= 3))
    UNION ALL
    SELECT 'seal', min(g.delete_after) FROM sealed_generations g
    UNION ALL
    SELECT 'compaction', min(greatest(s.lease_until, k.parked_until, s.unmeasured_since
               + compaction_window * (0.75 + 0.5 * (hashtextextended(s.scope_id::text, 0) & 1023) / 1023.0)))
    FROM scopes s LEFT JOIN tenant_parking k ON k.tenant_id = s.tenant_id
    WHERE compaction_window > interval '0' AND s.rebuilds IS NULL AND s.unmeasured_since IS NOT NULL
    UNION ALL
    SELECT 'page_schedule', min(m.due_at) FROM mental_models m
    UNION ALL
    SELECT 'page_deletion', min(greatest(m.mend_at, to_timestamp(0)))
    FROM (SELECT DISTINCT c.tenant_id, c.bank_id, c.page_id FROM mental_model_citations c WHERE c.memory_id IS NULL) AS gone
    JOIN mental_models m ON m.tenant_id = gone.tenant_id AND m.bank_id = gone.bank_id AND m.page_id = gone.page_id
    UNION ALL
    SELECT 'pages', min(greatest(s.unread_since + interval '5 minutes', s.lease_until)) FROM scopes s WHERE s.unread_since IS NOT NULL
    UNION ALL
    SELECT 'webhook', min(greatest(d.due_at, d.lease_until)) FROM webhook_deliveries d WHERE d.status = 'pending'
    UNION ALL
    SELECT 'webhook_events', min(e.created_at) FROM webhook_events e
    WHERE e.fanned_out_at IS NULL
      AND (everywhere AND e.created_at >= now() - interval '1 day' OR EXISTS (
          SELECT FROM webhooks h
          WHERE h.tenant_id = e.tenant_id AND h.bank_id = e.bank_id AND h.is_enabled AND e.created_at >= h.listens_since))
    UNION ALL
    SELECT 'erasure', min(greatest(e.due_at, e.lease_until)) FROM erasures e WHERE e.state <> 'signed' AND e.state = ANY (states)
$$;
REVOKE ALL ON FUNCTION due_work(boolean, boolean, interval, text[], boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(boolean, boolean, interval, text[], boolean) TO hindsight_write;
ALTER FUNCTION due_work(boolean, boolean, interval, text[], boolean) OWNER TO hindsight_router;
