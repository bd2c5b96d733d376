-- joinable --
-- The run an equal request may share: one that is going, or one that ended just now, undelivered, with no write to the bank since.
SELECT r.bank_id, r.run_id, r.subject, r.request, r.state, r.action, r.turn, r.status, r.answer, r.error, r.error_message,
       extract(epoch FROM r.deadline_at - now()) AS seconds_left, r.created_at, r.updated_at, r.ended_at, r.kind,
       r.forgotten_at IS NOT NULL AS is_forgotten, r.open_calls, r.lost_calls
FROM reflect_runs r
JOIN banks b ON b.tenant_id = r.tenant_id AND b.bank_id = r.bank_id
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.request_hash = %(request_hash)s::text
  AND ((r.status = 'running' AND r.deadline_at > now())
       OR (r.status IN ('completed', 'failed') AND r.delivered_at IS NULL
           AND r.ended_at > now() - make_interval(secs => %(within_seconds)s::double precision)
           AND b.last_write_at IS NOT DISTINCT FROM r.bank_write_at))
ORDER BY r.created_at DESC
LIMIT 1

-- make_room --
-- Ends a run of an equal request whose time is over: its execution died, and a new one may begin.
UPDATE reflect_runs
SET status = 'failed', error = 'ReflectTimeout', error_message = 'the run did not end within its time', state = '{}',
    action = NULL, ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND request_hash = %(request_hash)s::text
  AND status = 'running' AND deadline_at < now()

-- create --
-- A new run, unless one of an equal request is running.
INSERT INTO reflect_runs (tenant_id, bank_id, run_id, request_hash, subject, request, bank_write_at, deadline_at, kind)
SELECT b.tenant_id, b.bank_id, %(run_id)s::uuid, %(request_hash)s::text, %(subject)s::text, %(request)s::jsonb, b.last_write_at,
       now() + make_interval(secs => %(deadline_seconds)s::double precision), %(kind)s::text
FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid
ON CONFLICT (tenant_id, bank_id, request_hash) WHERE status = 'running' DO NOTHING

-- purge --
-- Removes the bank's runs that ended long ago, with their steps.
DELETE FROM reflect_runs
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND ended_at < now() - make_interval(secs => %(kept_seconds)s::double precision)

-- find --
-- A run by its id.
SELECT bank_id, run_id, subject, request, state, action, turn, status, answer, error, error_message,
       extract(epoch FROM deadline_at - now()) AS seconds_left, created_at, updated_at, ended_at, kind,
       forgotten_at IS NOT NULL AS is_forgotten, open_calls, lost_calls
FROM reflect_runs WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid

-- lock --
-- Locks a run until the transaction ends: what is deleted meanwhile waits, and then forgets what was written.
SELECT status FROM reflect_runs
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
FOR NO KEY UPDATE

-- begin --
-- The first state of a run.
UPDATE reflect_runs SET state = %(state)s::jsonb, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running' AND state = '{}'::jsonb

-- keep_question --
-- What the question was embedded as, kept with the first state of a run.
UPDATE reflect_runs SET state = state || jsonb_build_object('question', %(question)s::jsonb), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
  AND status = 'running' AND turn = 0 AND state <> '{}'::jsonb

-- advance --
-- A decision, unless the run has moved on.
UPDATE reflect_runs SET state = %(state)s::jsonb, action = %(action)s::jsonb, turn = turn + 1, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
  AND status = 'running' AND turn = %(turn)s::integer

-- complete --
-- The answer of a run that is running; what it was made from goes.
UPDATE reflect_runs SET status = 'completed', answer = %(answer)s::jsonb, state = '{}', action = NULL, ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running'

-- fail --
-- The end of a running run without an answer.
UPDATE reflect_runs
SET status = 'failed', error = %(error)s::text, error_message = %(message)s::text, state = '{}', action = NULL, ended_at = now(),
    updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running'

-- fail_dead --
-- The end of a run whose time is over and which nobody ended.
UPDATE reflect_runs
SET status = 'failed', error = 'ReflectTimeout', error_message = 'the run did not end within its time', state = '{}',
    action = NULL, ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
  AND status = 'running' AND deadline_at < now()

-- cancel --
-- The end of a running run that somebody does not want any more.
UPDATE reflect_runs SET status = 'cancelled', state = '{}', action = NULL, ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running'

-- mark_delivered --
-- Notes that a caller was given the end of the run.
UPDATE reflect_runs SET delivered_at = coalesce(delivered_at, now())
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status IN ('completed', 'failed')

-- steps --
-- Every step of a run, in order; the steps of one turn are tools 0, 1, 2, …, so short names come first.
SELECT turn, step, input, output, duration_ms
FROM reflect_steps WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
ORDER BY turn, char_length(step), step

-- step --
-- One step of a run.
SELECT turn, step, input, output, duration_ms
FROM reflect_steps
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
  AND turn = %(turn)s::integer AND step = %(step)s::text

-- record --
-- What a step of a running run did; a step that is there stays as it is, and what comes after the end is not kept.
INSERT INTO reflect_steps (tenant_id, bank_id, run_id, turn, step, input, output, duration_ms)
SELECT r.tenant_id, r.bank_id, r.run_id, %(turn)s::integer, %(step)s::text, %(input)s::jsonb, %(output)s::jsonb,
       %(duration_ms)s::integer
FROM reflect_runs r
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = %(run_id)s::uuid AND r.status = 'running'
FOR NO KEY UPDATE
ON CONFLICT DO NOTHING

-- begin_call --
-- Notes that a model call of a running run begins; one that was noted before and has no end is lost.
UPDATE reflect_runs
SET lost_calls = lost_calls + CASE WHEN %(call)s::text = ANY (open_calls) THEN 1 ELSE 0 END,
    open_calls = CASE WHEN %(call)s::text = ANY (open_calls) THEN open_calls ELSE open_calls || %(call)s::text END
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running'

-- end_call --
-- Notes that what became of a model call is written.
UPDATE reflect_runs SET open_calls = array_remove(open_calls, %(call)s::text)
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid

-- claim_step --
-- Takes a step for this connection: nobody else has it until it is given back, or the connection ends with its process.
SELECT pg_try_advisory_lock(hashtextextended(concat_ws('/', 'reflect', %(tenant_id)s::text, %(bank_id)s::text, %(run_id)s::text,
                                                       %(turn)s::text, %(step)s::text), 0)) AS is_claimed

-- release_step --
-- Gives a step back.
SELECT pg_advisory_unlock(hashtextextended(concat_ws('/', 'reflect', %(tenant_id)s::text, %(bank_id)s::text, %(run_id)s::text,
                                                     %(turn)s::text, %(step)s::text), 0)) AS was_claimed

-- forget_steps --
-- Removes the steps of a run.
DELETE FROM reflect_steps WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid

-- forget_ended --
-- Removes the steps of a run that has ended and under which memory was deleted.
DELETE FROM reflect_steps s USING reflect_runs r
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.run_id = %(run_id)s::uuid
  AND r.tenant_id = s.tenant_id AND r.bank_id = s.bank_id AND r.run_id = s.run_id
  AND r.ended_at IS NOT NULL AND r.forgotten_at IS NOT NULL

-- forget_answers --
-- Removes what ended runs of the bank answered and read, unless nothing is left; a running one is joined by nobody from now on.
WITH concerned AS MATERIALIZED (
    SELECT r.run_id FROM reflect_runs r
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid
      AND (r.answer IS NOT NULL OR r.delivered_at IS NULL
           OR EXISTS (SELECT FROM reflect_steps s WHERE s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.run_id = r.run_id))
    ORDER BY r.run_id
    FOR UPDATE
), forgotten AS (
    UPDATE reflect_runs r
    SET answer = NULL, updated_at = now(),
        delivered_at = CASE WHEN r.status = 'running' THEN r.delivered_at ELSE coalesce(r.delivered_at, now()) END,
        forgotten_at = CASE WHEN r.status = 'running' THEN coalesce(r.forgotten_at, now()) ELSE r.forgotten_at END,
        request_hash = CASE WHEN r.status = 'running' AND r.forgotten_at IS NULL THEN concat(r.request_hash, ':', r.run_id)
                            ELSE r.request_hash END
    FROM concerned c
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = c.run_id
    RETURNING r.run_id, r.status
)
DELETE FROM reflect_steps s USING forgotten f
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.run_id = f.run_id AND f.status <> 'running'

-- has_memories --
-- Whether the bank has a memory of one of these types.
SELECT EXISTS (SELECT FROM memory_units WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
               AND fact_type = ANY (%(fact_types)s::text[])) AS there
