-- joinable --
-- The run an equal request may share: one that is going, or one that ended just now, undelivered, with no write to the bank since.
SELECT r.bank_id, r.run_id, r.subject, r.request, r.state, r.action, r.turn, r.status, r.answer, r.error, r.error_message,
       extract(epoch FROM r.deadline_at - now()) AS seconds_left, r.created_at, r.updated_at, r.ended_at
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
SET status = 'failed', error = 'ReflectTimeout', error_message = 'the run did not end within its time', ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND request_hash = %(request_hash)s::text
  AND status = 'running' AND deadline_at < now()

-- create --
-- A new run, unless one of an equal request is running.
INSERT INTO reflect_runs (tenant_id, bank_id, run_id, request_hash, subject, request, bank_write_at, deadline_at)
SELECT b.tenant_id, b.bank_id, %(run_id)s::uuid, %(request_hash)s::text, %(subject)s::text, %(request)s::jsonb, b.last_write_at,
       now() + make_interval(secs => %(deadline_seconds)s::double precision)
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
       extract(epoch FROM deadline_at - now()) AS seconds_left, created_at, updated_at, ended_at
FROM reflect_runs WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid

-- begin --
-- The first state of a run.
UPDATE reflect_runs SET state = %(state)s::jsonb, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running' AND state = '{}'::jsonb

-- advance --
-- A decision, unless the run has moved on.
UPDATE reflect_runs SET state = %(state)s::jsonb, action = %(action)s::jsonb, turn = turn + 1, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
  AND status = 'running' AND turn = %(turn)s::integer

-- complete --
-- The answer of a run that is running.
UPDATE reflect_runs SET status = 'completed', answer = %(answer)s::jsonb, ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running'

-- fail --
-- The end of a running run without an answer.
UPDATE reflect_runs
SET status = 'failed', error = %(error)s::text, error_message = %(message)s::text, ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid AND status = 'running'

-- fail_dead --
-- The end of a run whose time is over and which nobody ended.
UPDATE reflect_runs
SET status = 'failed', error = 'ReflectTimeout', error_message = 'the run did not end within its time', ended_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
  AND status = 'running' AND deadline_at < now()

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
-- What a step did; a step that is there stays as it is.
INSERT INTO reflect_steps (tenant_id, bank_id, run_id, turn, step, input, output, duration_ms)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(run_id)s::uuid, %(turn)s::integer, %(step)s::text, %(input)s::jsonb, %(output)s::jsonb,
        %(duration_ms)s::integer)
ON CONFLICT DO NOTHING

-- forget_steps --
-- Removes the steps of a run.
DELETE FROM reflect_steps WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid

-- forget_answers --
-- Removes the answers of the bank's runs that have ended, with what they read.
WITH ended AS MATERIALIZED (
    SELECT r.run_id FROM reflect_runs r
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.ended_at IS NOT NULL
    ORDER BY r.run_id
    FOR UPDATE
), forgotten AS (
    UPDATE reflect_runs r SET answer = NULL, delivered_at = coalesce(r.delivered_at, now()), updated_at = now()
    FROM ended e
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = e.run_id
    RETURNING r.run_id
)
DELETE FROM reflect_steps s USING forgotten f
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.run_id = f.run_id

-- holds_memories --
-- Whether the bank has a memory of one of these types.
SELECT EXISTS (SELECT FROM memory_units WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
               AND fact_type = ANY (%(fact_types)s::text[])) AS holds

-- open --
-- Facts with what they were taken from: their chunk, or the whole document when it is asked for.
SELECT u.id, u.text, u.fact_type, u.context, u.tags, d.external_id AS document_id, coalesce(d.tags, '{}') AS document_tags,
       CASE WHEN %(whole_document)s::boolean THEN NULL ELSE c.chunk_text END AS chunk,
       CASE WHEN %(whole_document)s::boolean THEN d.original_text END AS document
FROM memory_units u
LEFT JOIN documents d ON d.tenant_id = u.tenant_id AND d.bank_id = u.bank_id AND d.document_id = u.document_id
LEFT JOIN chunks c ON c.tenant_id = u.tenant_id AND c.bank_id = u.bank_id AND c.document_id = u.document_id
     AND c.chunk_index = u.chunk_index
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])
  AND u.fact_type NOT IN ('observation', 'shadow')

-- cited --
-- Memories as they are now.
SELECT u.id, u.text, u.fact_type, u.context, u.occurred_start, u.occurred_end, u.mentioned_at, d.external_id AS document_id,
       u.chunk_index, u.tags, u.metadata
FROM memory_units u
LEFT JOIN documents d ON d.tenant_id = u.tenant_id AND d.bank_id = u.bank_id AND d.document_id = u.document_id
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])
