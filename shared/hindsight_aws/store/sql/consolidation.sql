-- take_scope_lease --
-- Takes the lease if it is free; else marks the scope woken again, in the same statement, for its holder to see.
UPDATE scopes
SET woken = lease_until >= now(),
    fence = fence + (lease_until < now())::integer,
    lease_until = CASE WHEN lease_until < now() THEN now() + make_interval(secs => %(seconds)s) ELSE lease_until END
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s
  AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = %(tenant_id)s AND t.suspended_at IS NOT NULL)
RETURNING scope_id, fence, tags, policy_hash, rebuilds, woken, now() AS taken_at,
          EXISTS (SELECT FROM consolidation_work w
                  WHERE w.tenant_id = scopes.tenant_id AND w.bank_id = scopes.bank_id AND w.scope_id = scopes.scope_id
                    AND w.state = 'pending' AND w.requested) AS is_requested,
          EXISTS (SELECT FROM compactions c
                  WHERE c.tenant_id = scopes.tenant_id AND c.bank_id = scopes.bank_id AND c.scope_id = scopes.scope_id
                    AND c.done_at IS NULL) AS compacts

-- lock_scope --
-- Keeps the scope's lease from change, but new work may be opened in it; no row when the fence has moved on.
SELECT scope_id
FROM scopes
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s AND fence = %(fence)s
FOR NO KEY UPDATE

-- renew_scope_lease --
-- Extends a lease that is still ours and clears the wake-up mark: what woke it is about to be read.
UPDATE scopes
SET lease_until = now() + make_interval(secs => %(seconds)s), woken = false
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s AND fence = %(fence)s

-- release_scope_lease --
-- Gives back a lease that is still ours, unless a wake-up came or due work remains.
UPDATE scopes
SET lease_until = '-infinity', woken = false
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s AND fence = %(fence)s
  AND (%(even_if_woken)s OR NOT woken AND NOT EXISTS (
      SELECT FROM consolidation_work w
      WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.scope_id = %(scope_id)s
        AND w.state = 'pending' AND w.due_at <= now() AND (w.requested OR NOT %(requested_only)s)))

-- was_cancelled --
-- Whether a consolidation over the scope was cancelled since a time, and nobody asks for its work any more.
SELECT EXISTS (
    SELECT FROM operations o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.kind = 'consolidation' AND o.status = 'cancelled'
      AND o.completed_at >= %(since)s
      AND (o.payload -> 'scope_ids' IS NULL OR o.payload -> 'scope_ids' ? (%(scope_id)s::uuid)::text)
) AND NOT EXISTS (
    SELECT FROM consolidation_work w
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.scope_id = %(scope_id)s AND w.state = 'pending' AND w.requested
) AS was_cancelled

-- withdraw_requests --
-- Work of an operation's scopes that no open operation waits for any more is nobody's request.
UPDATE consolidation_work
SET requested = false
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND work_id IN (
    SELECT w.work_id
    FROM operations ended
    JOIN consolidation_work w
      ON w.tenant_id = ended.tenant_id AND w.bank_id = ended.bank_id AND w.state = 'pending' AND w.requested AND NOT w.is_rebuild
     AND (ended.payload -> 'scope_ids' IS NULL OR ended.payload -> 'scope_ids' ? w.scope_id::text)
    WHERE ended.tenant_id = %(tenant_id)s AND ended.bank_id = %(bank_id)s AND ended.operation_id = ANY(%(operation_ids)s::uuid[])
      AND ended.kind = 'consolidation'
      AND NOT EXISTS (
          SELECT FROM operations o
          WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.kind = 'consolidation'
            AND o.status IN ('pending', 'processing')
            AND (o.payload -> 'scope_ids' IS NULL OR o.payload -> 'scope_ids' ? w.scope_id::text))
    ORDER BY w.work_id
    FOR UPDATE OF w)

-- refuse_operations --
-- Ends the open consolidations over a scope as failed: the model refuses this caller's calls until somebody mends it.
WITH locked AS MATERIALIZED (
    SELECT k.operation_id FROM operations k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.kind = 'consolidation' AND k.status IN ('pending', 'processing')
      AND (k.payload -> 'scope_ids' IS NULL OR k.payload -> 'scope_ids' ? (%(scope_id)s::uuid)::text)
    ORDER BY k.operation_id
    FOR UPDATE
)
UPDATE operations o
SET status = 'failed', error_message = %(error)s, error_kind = 'ModelDenied', completed_at = now(), updated_at = now()
FROM locked h
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.operation_id = h.operation_id
RETURNING o.operation_id, o.status, o.error_message

-- begin_call --
-- Counts a model call on the facts it is about before it is made: should nobody hear the answer, it was asked for all the same.
WITH locked AS MATERIALIZED ({{batch_locked}})
UPDATE consolidation_work w
SET calls = w.calls + 1, attempts = w.attempts + 1
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id

-- discard_answer --
-- Notes on the facts it was about why an answer was discarded: no fault of theirs, but one that has cost too many calls fails.
WITH locked AS MATERIALIZED ({{batch_locked}})
UPDATE consolidation_work w
SET attempts = greatest(w.attempts - 1, 0), error = %(error)s,
    state = CASE WHEN w.calls >= %(most_calls)s THEN 'failed' ELSE w.state END,
    failed_at = CASE WHEN w.calls >= %(most_calls)s THEN now() ELSE w.failed_at END,
    revivals = w.revivals + (w.calls >= %(most_calls)s)::integer
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id

-- give_up --
-- Facts that have cost as many calls as they may, of which the last worker to ask never said what was answered, fail.
WITH locked AS MATERIALIZED ({{batch_locked}})
UPDATE consolidation_work w
SET state = 'failed', failed_at = now(), revivals = w.revivals + 1, error = %(error)s || coalesce('; before that: ' || w.error, '')
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id

-- pending_facts --
-- Due facts of a scope, oldest first; those somebody asked for alone where nothing runs by itself.
SELECT w.work_id, w.looks, w.attempts, w.calls, w.deferrals, w.refused_delete,
       f.id, f.text, f.version, f.event_date, f.occurred_start, f.occurred_end, f.mentioned_at
FROM consolidation_work w
JOIN memory_units f ON f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.scope_id = %(scope_id)s
  AND w.state = 'pending' AND w.due_at <= now() AND (w.requested OR NOT %(requested_only)s)
ORDER BY f.created_at, f.document_id, f.chunk_index, f.ordinal, f.id
LIMIT %(at_most)s

-- count_observations --
-- How many observations one exact scope holds.
SELECT count(*) AS observations
FROM memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s

-- related_by_vector --
-- For each fact the nearest observations of the exact scope, by an exact scan of that scope alone.
SELECT f.id AS fact_id, near.id AS observation_id
FROM unnest(%(fact_ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (SELECT u.id, {{u_vector}} AS embedding FROM memory_units u
                    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = wanted.id OFFSET 0) AS f
CROSS JOIN LATERAL (
    SELECT scoped.id, scoped.embedding <=> f.embedding AS distance
    FROM (SELECT u.id, {{u_vector}} AS embedding FROM memory_units u
          WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.scope_id = %(scope_id)s
            AND u.embedding IS NOT NULL OFFSET 0) AS scoped
    ORDER BY distance, scoped.id
    LIMIT %(per_fact)s
) AS near
WHERE f.embedding IS NOT NULL
ORDER BY f.id, near.distance, near.id

-- related_by_words --
-- For each fact the observations of the exact scope that share its rarest words.
WITH postings AS MATERIALIZED (
    SELECT t.term, t.unit_id, count(*) OVER (PARTITION BY t.term) AS holders
    FROM memory_units o
    JOIN unit_terms t ON t.tenant_id = o.tenant_id AND t.bank_id = o.bank_id AND t.unit_id = o.id
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.scope_id = %(scope_id)s
), scored AS (
    SELECT f.unit_id AS fact_id, p.unit_id AS observation_id,
           sum(ln(1 + %(observations)s::double precision / p.holders)) AS score
    FROM unit_terms f
    JOIN postings p ON p.term = f.term
    WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s AND f.unit_id = ANY(%(fact_ids)s::uuid[])
    GROUP BY f.unit_id, p.unit_id
), ranked AS (
    SELECT fact_id, observation_id, row_number() OVER (PARTITION BY fact_id ORDER BY score DESC, observation_id) AS place
    FROM scored
)
SELECT fact_id, observation_id FROM ranked WHERE place <= %(per_fact)s ORDER BY fact_id, place

-- shown_observations --
-- Observations of the exact scope as the model is shown them.
SELECT id, text, proof_count, occurred_start, occurred_end, mentioned_at
FROM memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s AND id = ANY(%(ids)s::uuid[])

-- shown_evidence --
-- The sources of those observations, newest first.
SELECT e.observation_id, f.text, f.occurred_start, f.occurred_end, f.mentioned_at
FROM observation_evidence e
JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id AND o.scope_id = %(scope_id)s
JOIN memory_units f ON f.tenant_id = e.tenant_id AND f.bank_id = e.bank_id AND f.id = e.fact_id
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = ANY(%(ids)s::uuid[])
ORDER BY e.observation_id, coalesce(f.mentioned_at, f.created_at) DESC, f.id

-- neighbours --
-- For each vector the closest observations of the exact scope from a cosine upwards.
SELECT probe.place::integer AS place, near.id, near.text, near.similarity
FROM unnest(%(vectors)b::halfvec[]) WITH ORDINALITY AS probe (vector, place)
CROSS JOIN LATERAL (
    SELECT scoped.id, scoped.text, 1 - (scoped.embedding <=> probe.vector) AS similarity
    FROM (SELECT u.id, u.text, {{u_vector}} AS embedding FROM memory_units u
          WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.scope_id = %(scope_id)s
            AND u.embedding IS NOT NULL OFFSET 0) AS scoped
    ORDER BY similarity DESC, scoped.id
    LIMIT %(at_most)s
) AS near
WHERE near.similarity >= %(at_least)s
ORDER BY probe.place, near.similarity DESC, near.id

-- fail_work --
-- Counts a malformed answer on these rows; those that cannot be asked in a smaller company, or have cost too many calls, fail.
WITH locked AS MATERIALIZED ({{batch_locked}})
UPDATE consolidation_work w
SET attempts = %(attempts)s, error = %(error)s, run_id = %(run_id)s,
    fact_version = (SELECT f.version FROM memory_units f
                    WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s AND f.id = w.fact_id),
    state = CASE WHEN %(is_final)s OR w.calls >= %(most_calls)s THEN 'failed' ELSE w.state END,
    failed_at = CASE WHEN %(is_final)s OR w.calls >= %(most_calls)s THEN now() ELSE w.failed_at END,
    revivals = w.revivals + (%(is_final)s OR w.calls >= %(most_calls)s)::integer
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id

-- defer_work --
-- Moves a scope's due work to a later time; rows put off too often fail.  A call that never came through counts for nothing.
WITH locked AS MATERIALIZED (
    SELECT k.work_id, k.work_id = ANY(%(unheard)s::uuid[]) AS is_unheard FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.scope_id = %(scope_id)s AND k.state = 'pending' AND k.due_at <= now()
    ORDER BY k.work_id
    FOR UPDATE
)
UPDATE consolidation_work w
SET deferrals = w.deferrals + 1, error = %(error)s, due_at = %(until)s,
    calls = greatest(w.calls - h.is_unheard::integer, 0), attempts = greatest(w.attempts - h.is_unheard::integer, 0),
    state = CASE WHEN w.deferrals + 1 >= %(fails_after)s::integer THEN 'failed' ELSE w.state END,
    failed_at = CASE WHEN w.deferrals + 1 >= %(fails_after)s::integer THEN now() ELSE w.failed_at END,
    revivals = w.revivals + (w.deferrals + 1 >= %(fails_after)s::integer)::integer
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id

-- record_run --
-- Keeps one model call's provenance and what came of it.
INSERT INTO consolidation_runs (tenant_id, bank_id, run_id, scope_id, fence, policy_hash, strategy_index, strategy_name, prompt,
                                model_id, status, counts, started_at)
VALUES (%(tenant_id)s, %(bank_id)s, %(run_id)s, %(scope_id)s, %(fence)s, %(policy_hash)s, %(strategy_index)s, %(strategy_name)s,
        %(prompt)s, %(model_id)s, %(status)s, %(counts)s, %(started_at)s)

-- finish_consolidation_operations --
-- Ends the bank's consolidation operations whose scopes have no pending work left that was asked for.
WITH ended AS MATERIALIZED (
    SELECT k.operation_id, k.created_at, k.payload
    FROM operations k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.kind = 'consolidation' AND k.status IN ('pending', 'processing')
      AND NOT EXISTS (
          SELECT FROM consolidation_work w
          WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.state = 'pending' AND w.requested AND NOT w.is_rebuild
            AND isfinite(w.due_at)
            AND (k.payload -> 'scope_ids' IS NULL OR k.payload -> 'scope_ids' ? w.scope_id::text))
    ORDER BY k.operation_id
    FOR UPDATE
)
UPDATE operations o
SET status = CASE WHEN failed.facts > 0 THEN 'failed' ELSE 'completed' END,
    error_message = CASE WHEN failed.facts > 0 THEN failed.facts || ' facts could not be consolidated: ' || failed.example END,
    error_kind = CASE WHEN failed.facts > 0 THEN 'consolidation' END,
    result = o.result || jsonb_build_object('memories_failed', failed.facts),
    completed_at = now(), updated_at = now()
FROM ended
CROSS JOIN LATERAL (
    SELECT count(*) AS facts, min(w.error) AS example
    FROM consolidation_work w JOIN scopes s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.state = 'failed' AND w.failed_at >= ended.created_at
      AND (ended.payload -> 'scope_ids' IS NULL OR ended.payload -> 'scope_ids' ? w.scope_id::text)
) AS failed
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.operation_id = ended.operation_id
RETURNING o.operation_id, o.status, o.error_message

-- done_since --
-- What consolidation did since operations over these scopes were asked for: to facts, and to observations.
SELECT o.operation_id,
       (SELECT count(*) FROM consolidation_work w
        WHERE w.tenant_id = o.tenant_id AND w.bank_id = o.bank_id AND w.state = 'done' AND w.done_at >= o.created_at AND NOT w.is_rebuild
          AND w.scope_id IS NOT NULL AND (o.payload -> 'scope_ids' IS NULL OR o.payload -> 'scope_ids' ? w.scope_id::text)) AS facts,
       coalesce(sum((r.counts ->> 'observations_created')::integer), 0)::integer AS created,
       coalesce(sum((r.counts ->> 'observations_updated')::integer), 0)::integer AS updated,
       coalesce(sum((r.counts ->> 'observations_merged')::integer), 0)::integer AS deleted
FROM operations o
LEFT JOIN consolidation_runs r
  ON r.tenant_id = o.tenant_id AND r.bank_id = o.bank_id AND r.status = 'applied' AND r.finished_at >= o.created_at
 AND (o.payload -> 'scope_ids' IS NULL OR o.payload -> 'scope_ids' ? r.scope_id::text)
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.operation_id = ANY(%(operation_ids)s::uuid[])
GROUP BY o.tenant_id, o.bank_id, o.operation_id

-- note_done --
-- Adds what was done to the results of operations that have just ended.
UPDATE operations o
SET result = o.result || done.counts
FROM jsonb_to_recordset(%(done)s::jsonb) AS done (operation_id uuid, counts jsonb)
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.operation_id = done.operation_id

-- open_operation_over --
-- The consolidation that is still open over exactly these scopes, or over the whole bank, if any.
SELECT operation_id
FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND kind = 'consolidation' AND status IN ('pending', 'processing')
  AND payload -> 'scope_ids' IS NOT DISTINCT FROM %(scope_ids)s::jsonb
ORDER BY created_at
LIMIT 1

-- request_work --
-- Makes pending work due now because somebody asked for it, of facts or scopes that hold all tags of a filter; says in which scopes.
WITH locked AS MATERIALIZED (
    SELECT w.work_id
    FROM consolidation_work w
    JOIN scopes s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
    JOIN memory_units f ON f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.state = 'pending'
      AND {{w_passes_filters}}
      AND {{w_is_covered}}
    ORDER BY w.work_id
    FOR UPDATE OF w
), asked AS (
    UPDATE consolidation_work w
    SET requested = true, due_at = least(w.due_at, now()), deferrals = 0
    FROM locked h
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id
    RETURNING w.scope_id
)
SELECT DISTINCT a.scope_id FROM asked a

-- recover_work --
-- Failed facts of the bank, or those of them that a filter covers, pending again and asked for by nobody; says how many facts they are.
WITH locked AS MATERIALIZED (
    SELECT w.work_id
    FROM consolidation_work w
    JOIN scopes s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
    JOIN memory_units f ON f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.state = 'failed'
      AND {{w_passes_filters}}
      AND {{w_is_covered}}
    ORDER BY w.work_id
    FOR UPDATE OF w
), recovered AS (
    UPDATE consolidation_work w
    SET {{clean_slate}}, requested = w.requested AND w.is_rebuild, due_at = now()
    FROM locked h
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id
    RETURNING w.fact_id
)
SELECT count(DISTINCT fact_id) AS facts FROM recovered

-- revive_work --
-- Failed facts of a scope that are to be tried again: three times at most, after a delay that doubles.
WITH locked AS MATERIALIZED (
    SELECT k.work_id FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.scope_id = %(scope_id)s AND k.state = 'failed' AND k.revivals <= 3
      AND k.failed_at + make_interval(secs => 300 * 2 ^ k.revivals) <= now()
    ORDER BY k.work_id
    FOR UPDATE
)
UPDATE consolidation_work w
SET state = 'pending', failed_at = NULL, attempts = 0, looks = 0, calls = 0, deferrals = 0, refused_delete = false, due_at = now()
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = h.work_id
