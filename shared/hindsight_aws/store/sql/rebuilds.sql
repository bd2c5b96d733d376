-- standing --
-- How a scope stands to its mission, and its shadow while it is rebuilt.
SELECT s.brief_hash, shadow.scope_id AS shadow_id,
       CASE WHEN s.rebuild_after > now() THEN s.rebuild_after END AS waits_until,
       EXISTS (SELECT FROM memory_units o
               WHERE o.tenant_id = s.tenant_id AND o.bank_id = s.bank_id AND o.scope_id = s.scope_id) AS has_observations
FROM scopes s
LEFT JOIN scopes shadow ON shadow.tenant_id = s.tenant_id AND shadow.bank_id = s.bank_id AND shadow.rebuilds = s.scope_id
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = %(scope_id)s::uuid

-- shadow --
-- How a rebuild stands: whose it is, under which mission, and its facts by state.
SELECT s.rebuilds, s.brief_hash, original.brief_hash AS original_brief, s.rebuild_forced AS is_forced,
       coalesce(o.status = 'cancelled', false) AS is_cancelled, work.pending, work.failed, work.revivable, work.done
FROM scopes s
JOIN scopes original ON original.tenant_id = s.tenant_id AND original.bank_id = s.bank_id AND original.scope_id = s.rebuilds
LEFT JOIN operations o ON o.tenant_id = s.tenant_id AND o.bank_id = s.bank_id AND o.operation_id = s.operation_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE w.state = 'pending') AS pending, count(*) FILTER (WHERE w.state = 'failed') AS failed,
           count(*) FILTER (WHERE w.state = 'failed' AND w.revivals <= 3) AS revivable, count(*) FILTER (WHERE w.state = 'done') AS done
    FROM consolidation_work w
    WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id
) AS work
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = %(shadow_id)s::uuid AND s.rebuilds IS NOT NULL

-- shadows --
-- The rebuilds of a bank, or of one of its scopes, that are going on, and the missions they are written under.
SELECT scope_id, brief_hash FROM scopes
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND rebuilds IS NOT NULL
  AND (%(scope_id)s::uuid IS NULL OR rebuilds = %(scope_id)s::uuid)
ORDER BY scope_id

-- scopes --
-- Scopes with work or observations, in order of their ids, and what a rebuild of each would read and put aside.
SELECT s.scope_id, s.tags, s.brief_hash, s.policy_hash, locked.observations, work.facts, work.capped,
       EXISTS (SELECT FROM scopes shadow
               WHERE shadow.tenant_id = s.tenant_id AND shadow.bank_id = s.bank_id AND shadow.rebuilds = s.scope_id) AS is_rebuilding,
       s.rebuild_after > now() AS is_put_off
FROM scopes s
CROSS JOIN LATERAL (
    SELECT count(*) AS observations FROM memory_units o
    WHERE o.tenant_id = s.tenant_id AND o.bank_id = s.bank_id AND o.scope_id = s.scope_id
) AS locked
CROSS JOIN LATERAL (
    SELECT count(*) AS facts, count(*) FILTER (WHERE w.outcome = 'capped') AS capped
    FROM consolidation_work w WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id
) AS work
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.rebuilds IS NULL
  AND (%(after)s::uuid IS NULL OR s.scope_id > %(after)s::uuid) AND (work.facts > 0 OR locked.observations > 0)
ORDER BY s.scope_id
LIMIT %(at_most)s::integer

-- keep_facts --
-- Keeps the facts that scopes have work for, or observations rest on, from going, in id order; they may be changed.
SELECT f.id
FROM memory_units f
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid
  AND f.id IN (SELECT w.fact_id FROM consolidation_work w
               WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id = ANY (%(scope_ids)s::uuid[])
               UNION
               SELECT e.fact_id
               FROM memory_units o
               JOIN observation_evidence e ON e.tenant_id = o.tenant_id AND e.bank_id = o.bank_id AND e.observation_id = o.id
               WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.scope_id = ANY (%(scope_ids)s::uuid[]))
ORDER BY f.id
FOR KEY SHARE

-- keep_new_facts --
-- Keeps the facts that a shadow is to take over from its scope from going, in id order, before any scope is locked.
SELECT f.id
FROM memory_units f
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid
  AND f.id IN (SELECT o.fact_id
               FROM scopes shadow
               JOIN consolidation_work o ON o.tenant_id = shadow.tenant_id AND o.bank_id = shadow.bank_id AND o.scope_id = shadow.rebuilds
               WHERE shadow.tenant_id = %(tenant_id)s AND shadow.bank_id = %(bank_id)s::uuid AND shadow.scope_id = %(shadow_id)s::uuid
                 AND NOT EXISTS (SELECT FROM consolidation_work w
                                 WHERE w.tenant_id = o.tenant_id AND w.bank_id = o.bank_id AND w.scope_id = shadow.scope_id
                                   AND w.fact_id = o.fact_id))
ORDER BY f.id
FOR KEY SHARE

-- make_shadows --
-- Shadows of these scopes, in order of the scopes' ids; a scope that has one is left alone.
INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags, brief_hash, rebuilds, rebuild_forced, operation_id)
SELECT s.tenant_id, s.bank_id, wanted.shadow_id, 'rebuild:' || s.scope_key, s.tags, wanted.brief_hash, s.scope_id,
       %(is_forced)s::boolean, %(operation_id)s::uuid
FROM unnest(%(shadow_ids)s::uuid[], %(scope_ids)s::uuid[], %(brief_hashes)s::text[]) AS wanted (shadow_id, scope_id, brief_hash)
JOIN scopes s ON s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = wanted.scope_id AND s.rebuilds IS NULL
ORDER BY s.scope_id
ON CONFLICT DO NOTHING
RETURNING scope_id, rebuilds

-- ask_for_shadows --
-- Marks rebuilds that are going on as asked for by somebody.
WITH locked AS MATERIALIZED (
    SELECT k.scope_id FROM scopes k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.rebuilds = ANY (%(scope_ids)s::uuid[]) AND NOT k.rebuild_forced
    ORDER BY k.scope_id
    FOR NO KEY UPDATE
)
UPDATE scopes s SET rebuild_forced = true
FROM locked h
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = h.scope_id

-- ask_for_work --
-- Marks the work of rebuilds that are going on as asked for by somebody.
WITH locked AS MATERIALIZED (
    SELECT k.work_id
    FROM scopes shadow
    JOIN consolidation_work k ON k.tenant_id = shadow.tenant_id AND k.bank_id = shadow.bank_id AND k.scope_id = shadow.scope_id
    WHERE shadow.tenant_id = %(tenant_id)s AND shadow.bank_id = %(bank_id)s::uuid AND shadow.rebuilds = ANY (%(scope_ids)s::uuid[])
      AND NOT k.requested
    ORDER BY k.work_id
    FOR UPDATE OF k
)
UPDATE consolidation_work w SET requested = true
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id

-- account_for_evidence --
-- Work rows, done, for facts that observations of these scopes rest on and that have none: a rebuild must know of them.
INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id, state, outcome, done_at)
SELECT f.tenant_id, f.bank_id, gen_random_uuid(), f.id, rested.scope_id, 'done', 'evidence', now()
FROM (SELECT DISTINCT e.fact_id, o.scope_id
      FROM memory_units o
      JOIN observation_evidence e ON e.tenant_id = o.tenant_id AND e.bank_id = o.bank_id AND e.observation_id = o.id
      WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.scope_id = ANY (%(scope_ids)s::uuid[])) AS rested
JOIN memory_units f ON f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND f.id = rested.fact_id
ORDER BY f.id, rested.scope_id
FOR KEY SHARE OF f
ON CONFLICT DO NOTHING

-- follow_scope --
-- Takes work out of a shadow whose fact has left the scope; what changed since it was worked on is pending again.
WITH locked AS MATERIALIZED (
    SELECT w.work_id, NOT EXISTS (
               SELECT FROM consolidation_work o
               WHERE o.tenant_id = w.tenant_id AND o.bank_id = w.bank_id AND o.scope_id = shadow.rebuilds AND o.fact_id = w.fact_id
           ) AS is_stray
    FROM scopes shadow
    JOIN consolidation_work w ON w.tenant_id = shadow.tenant_id AND w.bank_id = shadow.bank_id AND w.scope_id = shadow.scope_id
    JOIN memory_units f ON f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id
    WHERE shadow.tenant_id = %(tenant_id)s AND shadow.bank_id = %(bank_id)s::uuid AND shadow.scope_id = %(shadow_id)s::uuid
      AND (w.state <> 'pending' AND f.version <> w.fact_version
           OR NOT EXISTS (
               SELECT FROM consolidation_work o
               WHERE o.tenant_id = w.tenant_id AND o.bank_id = w.bank_id AND o.scope_id = shadow.rebuilds AND o.fact_id = w.fact_id))
    ORDER BY w.work_id
    FOR UPDATE OF w
), strays AS (
    DELETE FROM consolidation_work w USING locked h
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id AND h.is_stray
)
UPDATE consolidation_work w
SET {{clean_slate}}, due_at = now()
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id AND NOT h.is_stray

-- adopt_work --
-- Pending work in shadows for facts of their scopes that have none there yet; a fact that somebody changes meanwhile gets it next time.
INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id, requested, is_rebuild)
SELECT f.tenant_id, f.bank_id, gen_random_uuid(), f.id, shadow.scope_id, shadow.rebuild_forced, true
FROM scopes shadow
JOIN consolidation_work o ON o.tenant_id = shadow.tenant_id AND o.bank_id = shadow.bank_id AND o.scope_id = shadow.rebuilds
JOIN memory_units f ON f.tenant_id = o.tenant_id AND f.bank_id = o.bank_id AND f.id = o.fact_id
WHERE shadow.tenant_id = %(tenant_id)s AND shadow.bank_id = %(bank_id)s::uuid AND shadow.scope_id = ANY (%(shadow_ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM consolidation_work w
                  WHERE w.tenant_id = o.tenant_id AND w.bank_id = o.bank_id AND w.scope_id = shadow.scope_id AND w.fact_id = o.fact_id)
ORDER BY f.id, shadow.scope_id
FOR KEY SHARE OF f SKIP LOCKED
ON CONFLICT DO NOTHING

-- lock_rebuilt_documents --
-- Keeps the documents of a shadow's facts from change; documents come before facts in the global lock order.
SELECT d.document_id
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid
  AND d.document_id IN (SELECT f.document_id FROM consolidation_work w
                        JOIN memory_units f ON f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id
                        WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id = %(shadow_id)s::uuid)
ORDER BY d.document_id
FOR SHARE

-- lock_rebuilt_facts --
-- Keeps a shadow's facts from change, in id order.
SELECT f.id
FROM memory_units f
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid
  AND f.id IN (SELECT w.fact_id FROM consolidation_work w
               WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id = %(shadow_id)s::uuid)
ORDER BY f.id
FOR SHARE

-- lock_generations --
-- Keeps shadows and the scopes that they rebuild from change, in id order; new work may still be opened in them.
SELECT s.scope_id, s.fence
FROM scopes s
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid
  AND (s.scope_id = ANY (%(shadow_ids)s::uuid[])
       OR s.scope_id IN (SELECT k.rebuilds FROM scopes k
                         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_id = ANY (%(shadow_ids)s::uuid[])))
ORDER BY s.scope_id
FOR NO KEY UPDATE

-- lock_observations_of_scopes --
-- Keeps all observations of these scopes, or shadows, from change, in id order.
SELECT o.id
FROM memory_units o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.scope_id = ANY (%(scope_ids)s::uuid[])
ORDER BY o.id
FOR UPDATE

-- lock_work_of_scopes --
-- Keeps all work of these scopes, or shadows, from change, in order.
SELECT w.work_id
FROM consolidation_work w
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id = ANY (%(scope_ids)s::uuid[])
ORDER BY w.work_id
FOR UPDATE

-- open_facts --
-- How many facts of a shadow are not through yet.
SELECT count(*) AS facts
FROM consolidation_work
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(shadow_id)s::uuid AND state = 'pending'

-- seal --
-- Puts a scope's observations, with all their wordings and quotes, where no function reads them.
INSERT INTO sealed_generations (tenant_id, bank_id, generation_id, scope_id, fact_ids, content, delete_after)
SELECT s.tenant_id, s.bank_id, %(generation_id)s::uuid, s.scope_id,
       ARRAY(SELECT DISTINCT f.fact_id
             FROM observation_revisions r
             JOIN revision_facts f ON f.tenant_id = r.tenant_id AND f.bank_id = r.bank_id AND f.revision_id = r.revision_id
             WHERE r.tenant_id = s.tenant_id AND r.bank_id = s.bank_id AND r.scope_id = s.scope_id
             UNION
             SELECT e.fact_id
             FROM memory_units o
             JOIN observation_evidence e ON e.tenant_id = o.tenant_id AND e.bank_id = o.bank_id AND e.observation_id = o.id
             WHERE o.tenant_id = s.tenant_id AND o.bank_id = s.bank_id AND o.scope_id = s.scope_id),
       jsonb_build_object(
           'tags', s.tags, 'policy_hash', s.policy_hash,
           'observations', (SELECT coalesce(jsonb_agg(to_jsonb(o) - 'embedding'), '[]') FROM memory_units o
                            WHERE o.tenant_id = s.tenant_id AND o.bank_id = s.bank_id AND o.scope_id = s.scope_id),
           'revisions', (SELECT coalesce(jsonb_agg(to_jsonb(r) - 'embedding' ORDER BY r.sequence), '[]') FROM observation_revisions r
                         WHERE r.tenant_id = s.tenant_id AND r.bank_id = s.bank_id AND r.scope_id = s.scope_id)),
       now() + make_interval(days => %(days)s::integer)
FROM scopes s
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = %(scope_id)s::uuid

-- forget_revisions --
-- Removes every wording that observations of a scope have had.
DELETE FROM observation_revisions
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid

-- seal_runs --
-- Marks the runs of a scope's former generation: they can be undone no more.
UPDATE consolidation_runs SET sealed_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid AND sealed_at IS NULL

-- end_generation --
-- Removes a scope's observations; says how many they were and how many terms they held.
WITH ended AS (
    DELETE FROM memory_units
    WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid
    RETURNING terms
)
SELECT count(*) AS units, coalesce(sum(terms), 0)::bigint AS terms FROM ended

-- tag_shadow --
-- The tags of a shadow's observations, by which readers find them.
INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id)
SELECT o.tenant_id, o.bank_id, t.tag, o.id
FROM memory_units o CROSS JOIN LATERAL unnest(o.tags) AS t (tag)
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.scope_id = %(shadow_id)s::uuid
ORDER BY t.tag, o.id
ON CONFLICT DO NOTHING

-- show_terms --
-- Makes the words of a shadow's observations those of observations.
UPDATE unit_terms t SET fact_type = 'observation'
FROM memory_units o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.scope_id = %(shadow_id)s::uuid
  AND t.tenant_id = o.tenant_id AND t.bank_id = o.bank_id AND t.unit_id = o.id

-- show_shadow --
-- Makes a shadow's observations those of its scope; says how many they are and how many terms they hold.
WITH shown AS (
    UPDATE memory_units SET fact_type = 'observation', scope_id = %(scope_id)s::uuid
    WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(shadow_id)s::uuid
    RETURNING terms
)
SELECT count(*) AS units, coalesce(sum(terms), 0)::bigint AS terms FROM shown

-- show_revisions --
-- The wordings that a shadow's observations have had are the scope's.
UPDATE observation_revisions SET scope_id = %(scope_id)s::uuid
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(shadow_id)s::uuid

-- show_runs --
-- The runs of a shadow are the scope's.
UPDATE consolidation_runs SET scope_id = %(scope_id)s::uuid
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(shadow_id)s::uuid

-- settle_scope --
-- What became of the facts in the shadow is what became of them in the scope; the work of both is locked already.
UPDATE consolidation_work w
SET state = s.state, outcome = s.outcome, error = s.error, attempts = s.attempts, looks = s.looks, deferrals = s.deferrals,
    revivals = s.revivals, calls = s.calls, refused_delete = s.refused_delete, requested = w.requested OR s.requested, due_at = s.due_at,
    run_id = s.run_id, done_at = s.done_at, failed_at = s.failed_at, fact_version = s.fact_version
FROM consolidation_work s
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id = %(scope_id)s::uuid
  AND s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = %(shadow_id)s::uuid AND s.fact_id = w.fact_id

-- end_shadow --
-- Removes a shadow with whatever is left in it.
DELETE FROM scopes
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(shadow_id)s::uuid AND rebuilds IS NOT NULL
RETURNING rebuilds, operation_id

-- take_place --
-- Notes the mission that a scope is written under now; whoever still works on what was there before is refused.
UPDATE scopes
SET brief_hash = %(brief_hash)s::text, policy_hash = %(policy_hash)s::text, rebuilt_at = now(), rebuild_failures = 0,
    rebuild_after = '-infinity', fence = fence + 1, lease_until = '-infinity', woken = false,
    unmeasured_since = coalesce(unmeasured_since, now()), unread_since = coalesce(unread_since, now())
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid

-- put_off --
-- Notes a rebuild that came to nothing: the next one begins an hour later, then two, then four, a day at most.
UPDATE scopes
SET rebuild_failures = rebuild_failures + 1, rebuild_after = now() + least(interval '1 hour' * 2 ^ least(rebuild_failures, 5), interval '1 day')
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid

-- let_stand --
-- Notes that what is there counts as written under this mission.
UPDATE scopes SET brief_hash = %(brief_hash)s::text
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(scope_id)s::uuid

-- retarget --
-- Gives a shadow another mission to be written under.
UPDATE scopes SET brief_hash = %(brief_hash)s::text
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(shadow_id)s::uuid AND rebuilds IS NOT NULL

-- reopen_shadow --
-- All facts of a shadow are pending again, as if new.
WITH locked AS MATERIALIZED (
    SELECT k.work_id FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_id = %(shadow_id)s::uuid
    ORDER BY k.work_id
    FOR UPDATE
)
UPDATE consolidation_work w
SET {{clean_slate}}, run_id = NULL, due_at = now()
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id

-- note_ending --
-- Adds what a shadow came to to the result of its operation.
UPDATE operations o
SET status = CASE WHEN o.status = 'pending' THEN 'processing' ELSE o.status END, updated_at = now(),
    error_message = coalesce(o.error_message, %(error)s::text),
    result = o.result || (SELECT coalesce(jsonb_object_agg(c.key, coalesce((o.result ->> c.key)::bigint, 0) + c.value::bigint), '{}')
                          FROM jsonb_each_text(%(counts)s::jsonb) AS c (key, value))
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(operation_id)s::uuid

-- note_progress --
-- How many of the facts of a rebuild are through.
UPDATE operations o
SET status = 'processing', updated_at = now(),
    progress = jsonb_build_object(
        'stage', 'rebuilding', 'at', now(), 'total', left_over.total, 'processed', greatest(left_over.total - left_over.pending, 0),
        'detail', jsonb_build_object('scopes', jsonb_array_length(o.payload -> 'scope_ids'), 'scopes_left', left_over.scopes))
FROM scopes shadow
CROSS JOIN LATERAL (
    SELECT (SELECT coalesce((q.payload ->> 'facts')::bigint, 0) FROM operations q
            WHERE q.tenant_id = shadow.tenant_id AND q.bank_id = shadow.bank_id AND q.operation_id = shadow.operation_id) AS total,
           (SELECT count(*) FROM scopes k
            WHERE k.tenant_id = shadow.tenant_id AND k.bank_id = shadow.bank_id AND k.operation_id = shadow.operation_id) AS scopes,
           (SELECT count(*) FROM scopes k
            JOIN consolidation_work w ON w.tenant_id = k.tenant_id AND w.bank_id = k.bank_id AND w.scope_id = k.scope_id
            WHERE k.tenant_id = shadow.tenant_id AND k.bank_id = shadow.bank_id AND k.operation_id = shadow.operation_id
              AND w.state = 'pending') AS pending
) AS left_over
WHERE shadow.tenant_id = %(tenant_id)s AND shadow.bank_id = %(bank_id)s::uuid AND shadow.scope_id = %(shadow_id)s::uuid
  AND o.tenant_id = shadow.tenant_id AND o.bank_id = shadow.bank_id AND o.operation_id = shadow.operation_id
  AND o.status IN ('pending', 'processing')

-- finish --
-- Ends the bank's rebuilds that have no shadow left.
WITH ended AS MATERIALIZED (
    SELECT k.operation_id FROM operations k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.kind = 'policy_rebuild' AND k.status IN ('pending', 'processing')
      AND NOT EXISTS (SELECT FROM scopes s
                      WHERE s.tenant_id = k.tenant_id AND s.bank_id = k.bank_id AND s.operation_id = k.operation_id)
    ORDER BY k.operation_id
    FOR UPDATE
)
UPDATE operations o
SET status = CASE WHEN o.error_message IS NULL THEN 'completed' ELSE 'failed' END,
    error_kind = CASE WHEN o.error_message IS NOT NULL THEN 'consolidation' END,
    progress = o.progress || jsonb_build_object('stage', 'completed', 'at', now(), 'processed', o.progress -> 'total'),
    completed_at = now(), updated_at = now()
FROM ended
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = ended.operation_id

-- accept --
-- Notes the policies that scopes are under now; the mission too, where none was noted.
UPDATE scopes s
SET policy_hash = accepted.policy_hash, brief_hash = coalesce(s.brief_hash, accepted.brief_hash)
FROM (SELECT k.scope_id, wanted.policy_hash, wanted.brief_hash
      FROM unnest(%(scope_ids)s::uuid[], %(policy_hashes)s::text[], %(brief_hashes)s::text[]) AS wanted (scope_id, policy_hash, brief_hash)
      JOIN scopes k ON k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_id = wanted.scope_id
      ORDER BY k.scope_id FOR NO KEY UPDATE OF k) AS accepted
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = accepted.scope_id

-- reopen_capped --
-- Facts that a cap kept out of scopes which have room now are pending again.
WITH locked AS MATERIALIZED (
    SELECT k.work_id FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_id = ANY (%(scope_ids)s::uuid[])
      AND k.state = 'done' AND k.outcome = 'capped'
    ORDER BY k.work_id
    FOR UPDATE
)
UPDATE consolidation_work w
SET {{clean_slate}}, run_id = NULL, due_at = now()
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id

-- policy_digest --
-- A digest of the bank's settings and the server's, as due_work compares it.
SELECT md5(%(server_policy)s::text || config::text) AS digest
FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- saw_policy --
-- Notes the settings, the bank's and the server's, under which its scopes were looked through.
UPDATE banks SET policy_seen = %(digest)s::text
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- look_again --
-- Lets the next sweep look through the bank's scopes, whatever its settings.
UPDATE banks SET policy_seen = NULL WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- call_cost --
-- What the bank's last consolidation calls cost on average.
SELECT avg(l.usd)::numeric(18, 9) AS usd, avg(l.input_tokens)::bigint AS input_tokens, avg(l.output_tokens)::bigint AS output_tokens
FROM (SELECT u.usd, u.input_tokens + u.cache_read_tokens + u.cache_write_tokens AS input_tokens, u.output_tokens FROM usage_ledger u
      WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.task = 'consolidate' AND u.status = 'ok'
      ORDER BY u.at DESC LIMIT 200) AS l

-- delete_seals --
-- Deletes sealed generations whose days are over.
DELETE FROM sealed_generations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND delete_after <= now()
