-- units --
-- Live memories of a bank by type, from its counters.
SELECT fact_type, sum(units)::bigint AS units
FROM bank_counters WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
GROUP BY fact_type HAVING sum(units) > 0 ORDER BY fact_type

-- units_by_type --
-- Memories that pass the filters, by type.
SELECT u.fact_type, count(*) AS units
FROM memory_units AS u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
  AND {{u_tags_pass}}
GROUP BY u.fact_type ORDER BY u.fact_type

-- links --
-- Links of a bank by type.
SELECT link_type, count(*) AS links
FROM memory_links WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid GROUP BY link_type ORDER BY link_type

-- evidence_by_origin --
-- Pieces of evidence under a bank's observations by who chose the quote: the model, or nobody, so that it is the whole fact.
SELECT e.origin, count(*) AS pieces
FROM observation_evidence e
JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND o.fact_type = 'observation'
GROUP BY e.origin ORDER BY e.origin

-- operations_by_status --
-- Operations of a bank by status.
SELECT status, count(*) AS operations
FROM operations WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid GROUP BY status ORDER BY status

-- work --
-- How a bank's documents and consolidation stand.
SELECT (SELECT count(*) FROM documents AS d
        WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND NOT d.is_pending) AS documents,
       (SELECT b.last_write_at FROM banks AS b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid) AS last_write_at,
       count(DISTINCT w.fact_id) FILTER (WHERE w.state = 'pending') AS pending,
       count(DISTINCT w.fact_id) FILTER (WHERE w.state = 'failed') AS failed,
       max(w.done_at) FILTER (WHERE w.outcome IS DISTINCT FROM 'no_scope') AS last_consolidated_at
FROM consolidation_work AS w
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND NOT w.is_rebuild

-- timeline --
-- Memories that pass the filters by UTC bucket and type; those without a time on the axis count when they were made.
SELECT date_trunc(%(unit)s::text, t.at, 'UTC') AS bucket, t.fact_type, count(*) AS units
FROM (
    SELECT u.fact_type, coalesce(CASE %(axis)s::text WHEN 'mentioned_at' THEN u.mentioned_at
                                      WHEN 'occurred_start' THEN u.occurred_start END, u.created_at) AS at
    FROM memory_units AS u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
) AS t
WHERE t.at >= %(since)s::timestamptz
GROUP BY bucket, t.fact_type ORDER BY bucket
