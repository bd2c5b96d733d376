-- make_scopes --
-- Scopes of these exact tag sets, made where missing, in order of their keys.
INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags)
SELECT %(tenant_id)s, %(bank_id)s::uuid, s.scope_id, s.scope_key, s.tags
FROM jsonb_to_recordset(%(scopes)s::jsonb) AS s (scope_id uuid, scope_key text, tags text[])
ORDER BY s.scope_key
ON CONFLICT (tenant_id, bank_id, scope_key) DO NOTHING

-- open_work --
-- One pending row for each fact and scope; a fact without a scope is done with, and its row says why.
INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id, state, outcome, done_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid, w.work_id, w.fact_id, s.scope_id,
       CASE WHEN w.scope_key IS NULL THEN 'done' ELSE 'pending' END, CASE WHEN w.scope_key IS NULL THEN 'no_scope' END,
       CASE WHEN w.scope_key IS NULL THEN now() END
FROM unnest(%(work_ids)s::uuid[], %(fact_ids)s::uuid[], %(scope_keys)s::text[]) AS w (work_id, fact_id, scope_key)
LEFT JOIN scopes s ON s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_key = w.scope_key
ORDER BY w.fact_id, s.scope_id
ON CONFLICT DO NOTHING

-- ids --
-- The ids of scopes by their keys.
SELECT scope_id FROM scopes
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_key = ANY (%(scope_keys)s::text[])
ORDER BY scope_id

-- page --
-- Scopes that pass the tag filter, most observations first, with their open and failed work, and how many there are.
WITH held AS (
    SELECT s.tags, s.scope_key,
           (SELECT count(*) FROM memory_units AS o
            WHERE o.tenant_id = s.tenant_id AND o.bank_id = s.bank_id AND o.scope_id = s.scope_id) AS observations,
           (SELECT count(*) FROM consolidation_work AS w
            WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id
              AND w.state = 'pending') AS pending,
           (SELECT count(*) FROM consolidation_work AS w
            WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id
              AND w.state = 'failed') AS failed
    FROM scopes AS s
    WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s
      AND (%(any_of)s::text[] IS NULL OR s.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(s.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
), wanted AS MATERIALIZED (
    SELECT * FROM held WHERE observations > 0 OR (%(with_pending)s::boolean AND pending + failed > 0)
), page AS (
    SELECT * FROM wanted ORDER BY observations DESC, tags, scope_key LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
)
SELECT counted.total, page.tags, page.observations, page.pending, page.failed
FROM (SELECT count(*) AS total FROM wanted) AS counted
LEFT JOIN page ON true
ORDER BY page.observations DESC, page.tags, page.scope_key
