-- open_window --
-- One row for the time since a scope's observations were first written to after the last look; a second opening is none.
INSERT INTO compactions (tenant_id, bank_id, scope_id, window_start)
SELECT s.tenant_id, s.bank_id, s.scope_id, s.unmeasured_since
FROM scopes s
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = %(scope_id)s::uuid
  AND s.unmeasured_since IS NOT NULL AND s.rebuilds IS NULL
ON CONFLICT DO NOTHING

-- open_window_of --
-- The window of a scope that nobody has ended yet.
SELECT c.window_start FROM compactions c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.scope_id = %(scope_id)s::uuid AND c.done_at IS NULL
ORDER BY c.window_start
LIMIT 1

-- begin_questions --
-- Counts a look at a scope's open windows before its model is asked anything; says how many there have been.
WITH begun AS (
    UPDATE compactions SET tries = tries + 1
    WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid AND done_at IS NULL
    RETURNING tries
)
SELECT coalesce(max(tries), 0) AS tries FROM begun

-- put_off --
-- A scope that is not to be looked at now comes again a window later.
UPDATE scopes SET unmeasured_since = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid AND unmeasured_since IS NOT NULL

-- pairs --
-- The nearest pairs of a scope's observations, by an exact comparison of that scope alone; the older of a pair is first.
WITH scoped AS MATERIALIZED (
    SELECT u.id, u.text, u.proof_count, {{u_vector}} AS embedding, u.created_at
    FROM memory_units u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.scope_id = %(scope_id)s::uuid
      AND u.fact_type = 'observation' AND u.embedding IS NOT NULL
    ORDER BY u.updated_at DESC
    LIMIT 2000
), near AS (
    SELECT a.id AS first_id, b.id AS second_id, a.text AS first_text, b.text AS second_text,
           a.proof_count AS first_proofs, b.proof_count AS second_proofs, 1 - (a.embedding <=> b.embedding) AS similarity
    FROM scoped a JOIN scoped b ON (a.created_at, a.id) < (b.created_at, b.id)
)
SELECT n.*, EXISTS (
           SELECT FROM near_duplicates k
           WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.first_id = least(n.first_id, n.second_id)
             AND k.second_id = greatest(n.first_id, n.second_id) AND k.is_kept_apart
             AND k.digest = md5(least(n.first_text, n.second_text) || E'\n\n' || greatest(n.first_text, n.second_text))
       ) AS is_kept_apart
FROM near n
WHERE n.similarity >= %(at_least)s::double precision
ORDER BY n.similarity DESC, n.first_id, n.second_id
LIMIT %(at_most)s::integer

-- forget_pairs --
-- Takes the pairs of earlier windows out, but not what was found to say different things.
DELETE FROM near_duplicates
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid AND NOT is_kept_apart

-- note_pairs --
-- Pairs whose observations are both still there, with a digest of what they say now.
INSERT INTO near_duplicates AS k (tenant_id, bank_id, first_id, second_id, scope_id, similarity, digest, is_kept_apart)
SELECT %(tenant_id)s, %(bank_id)s::uuid, least(p.a, p.b), greatest(p.a, p.b), %(scope_id)s::uuid, p.similarity,
       md5(least(a.text, b.text) || E'\n\n' || greatest(a.text, b.text)), %(is_kept_apart)s::boolean
FROM jsonb_to_recordset(%(pairs)s::jsonb) AS p (a uuid, b uuid, similarity real)
JOIN memory_units a ON a.tenant_id = %(tenant_id)s AND a.bank_id = %(bank_id)s::uuid AND a.id = p.a AND a.scope_id = %(scope_id)s::uuid
JOIN memory_units b ON b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid AND b.id = p.b AND b.scope_id = %(scope_id)s::uuid
ORDER BY 3, 4
ON CONFLICT (tenant_id, bank_id, first_id, second_id) DO UPDATE
SET similarity = excluded.similarity, digest = excluded.digest, is_kept_apart = excluded.is_kept_apart, found_at = now()

-- close_window --
-- Ends a scope's windows, and says what was found.
UPDATE compactions SET done_at = now(), pairs = %(pairs)s::integer, merged = %(merged)s::integer
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid AND done_at IS NULL

-- measured --
-- Nothing of a scope waits to be looked at.
UPDATE scopes SET unmeasured_since = NULL
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid

-- page --
-- Pairs in sight whose texts are those that were compared, nearest first, and how many there are.
WITH seen AS MATERIALIZED (
    SELECT a.tags, k.first_id, k.second_id, a.text AS first_text, b.text AS second_text, a.proof_count AS first_proofs,
           b.proof_count AS second_proofs, k.similarity, k.is_kept_apart, k.found_at
    FROM near_duplicates k
    JOIN memory_units a ON a.tenant_id = k.tenant_id AND a.bank_id = k.bank_id AND a.id = k.first_id
    JOIN memory_units b ON b.tenant_id = k.tenant_id AND b.bank_id = k.bank_id AND b.id = k.second_id
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND NOT k.is_kept_apart
      AND a.fact_type = 'observation' AND b.fact_type = 'observation' AND a.scope_id = b.scope_id
      AND k.digest = md5(least(a.text, b.text) || E'\n\n' || greatest(a.text, b.text))
      AND 'observation' = ANY (%(fact_types)s::text[])
      AND (%(any_of)s::text[] IS NULL OR a.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(a.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
), page AS (
    SELECT * FROM seen ORDER BY similarity DESC, first_id, second_id LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
)
SELECT counted.total, page.*
FROM (SELECT count(*) AS total FROM seen) AS counted
LEFT JOIN page ON true
ORDER BY page.similarity DESC, page.first_id, page.second_id
