-- make_scopes --
-- Scopes of these exact tag sets, made where missing, in order of their keys; one that is there is not waited for.
INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags)
SELECT %(tenant_id)s, %(bank_id)s::uuid, s.scope_id, s.scope_key, s.tags
FROM jsonb_to_recordset(%(scopes)s::jsonb) AS s (scope_id uuid, scope_key text, tags text[])
WHERE NOT EXISTS (SELECT FROM scopes k
                  WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_key = s.scope_key)
ORDER BY s.scope_key
ON CONFLICT (tenant_id, bank_id, scope_key) DO NOTHING

-- open_work --
-- One pending row for each fact and scope; a fact without a scope is done with, and its row says why.  Says where rows are new.
INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id, state, outcome, done_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid, w.work_id, w.fact_id, s.scope_id,
       CASE WHEN w.scope_key IS NULL THEN 'done' ELSE 'pending' END, CASE WHEN w.scope_key IS NULL THEN 'no_scope' END,
       CASE WHEN w.scope_key IS NULL THEN now() END
FROM unnest(%(work_ids)s::uuid[], %(fact_ids)s::uuid[], %(scope_keys)s::text[]) AS w (work_id, fact_id, scope_key)
LEFT JOIN scopes s ON s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_key = w.scope_key
ORDER BY w.fact_id, s.scope_id
ON CONFLICT DO NOTHING
RETURNING scope_id

-- left --
-- Scopes that facts have work in and no longer belong to, a shadow of such a scope included.
SELECT w.fact_id, w.scope_id
FROM consolidation_work w
JOIN scopes s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.fact_id = ANY (%(fact_ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM unnest(%(wanted_by)s::uuid[], %(wanted)s::uuid[]) AS n (fact_id, scope_id)
                  WHERE n.fact_id = w.fact_id AND n.scope_id = coalesce(s.rebuilds, s.scope_id))
ORDER BY w.fact_id, w.scope_id

-- close_work --
-- Takes facts out of scopes; a fact that had none so far has a row that said so, and may have some now.
DELETE FROM consolidation_work w
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id IN (
    SELECT k.work_id
    FROM unnest(%(fact_ids)s::uuid[], %(scope_ids)s::uuid[]) AS l (fact_id, scope_id)
    JOIN consolidation_work k ON k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.fact_id = l.fact_id
     AND k.scope_id IS NOT DISTINCT FROM l.scope_id
    ORDER BY k.work_id
    FOR UPDATE OF k)

-- ids --
-- The ids of scopes by their keys.
SELECT scope_id FROM scopes
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_key = ANY (%(scope_keys)s::text[])
ORDER BY scope_id

-- page --
-- Scopes that pass the tag filter, most observations first, with their open and failed work, and how many there are.
WITH held AS MATERIALIZED (
    SELECT o.scope_id, count(*) AS observations
    FROM memory_units AS o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.scope_id IS NOT NULL
    GROUP BY o.scope_id
), open AS MATERIALIZED (
    SELECT w.scope_id, count(*) FILTER (WHERE w.state = 'pending') AS pending, count(*) FILTER (WHERE w.state = 'failed') AS failed
    FROM consolidation_work AS w
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.state IN ('pending', 'failed')
    GROUP BY w.scope_id
), wanted AS MATERIALIZED (
    SELECT s.scope_id, s.tags, s.brief_hash, coalesce(held.observations, 0) AS observations, coalesce(open.pending, 0) AS pending,
           coalesce(open.failed, 0) AS failed
    FROM scopes AS s
    LEFT JOIN held ON held.scope_id = s.scope_id
    LEFT JOIN open ON open.scope_id = s.scope_id
    WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s AND s.rebuilds IS NULL
      AND (held.observations > 0 OR (%(with_pending)s::boolean AND open.scope_id IS NOT NULL))
      AND (%(any_of)s::text[] IS NULL OR s.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(s.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
), page AS (
    SELECT wanted.*, EXISTS (
               SELECT FROM scopes AS shadow
               WHERE shadow.tenant_id = %(tenant_id)s AND shadow.bank_id = %(bank_id)s AND shadow.rebuilds = wanted.scope_id
           ) AS is_rebuilding
    FROM wanted ORDER BY observations DESC, tags COLLATE "C" LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
)
SELECT counted.total, page.tags, page.observations, page.pending, page.failed, page.brief_hash, page.is_rebuilding
FROM (SELECT count(*) AS total FROM wanted) AS counted
LEFT JOIN page ON true
ORDER BY page.observations DESC, page.tags COLLATE "C"
