-- open --
-- The refreshes of a model that wait or run, locked in id order.
SELECT operation_id, status, payload, due_at FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid AND status IN ('pending', 'processing')
ORDER BY operation_id
FOR NO KEY UPDATE

-- add --
-- A refresh that waits, unless one of its model waits already.
INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject, payload, items_count, result, page_id, due_at)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(operation_id)s::uuid, 'refresh_mental_model', %(subject)s::text, %(payload)s::jsonb, 1,
        %(result)s::jsonb, %(page_id)s::uuid, %(due_at)s::timestamptz)
ON CONFLICT (tenant_id, bank_id, page_id) WHERE page_id IS NOT NULL AND status = 'pending' DO NOTHING

-- change --
-- What is asked of a refresh that waits.
UPDATE operations SET payload = %(payload)s::jsonb, due_at = %(due_at)s::timestamptz, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid AND status = 'pending'

-- claim --
-- Takes up a refresh that is due, where none of its model runs; one whose worker died may be taken again.
UPDATE operations o
SET status = 'processing', fence = o.fence + 1, attempts = o.attempts + 1, progress = NULL,
    lease_until = now() + make_interval(secs => %(seconds)s::double precision), updated_at = now()
FROM (SELECT l.operation_id FROM operations l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.operation_id = %(operation_id)s::uuid
        AND l.status IN ('pending', 'processing') AND l.due_at <= now() AND l.lease_until < now()
        AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = %(tenant_id)s AND t.suspended_at IS NOT NULL)
        AND NOT EXISTS (SELECT FROM operations r
                        WHERE r.tenant_id = l.tenant_id AND r.bank_id = l.bank_id AND r.page_id = l.page_id
                          AND r.status = 'processing' AND r.operation_id <> l.operation_id)
      FOR NO KEY UPDATE SKIP LOCKED) AS due
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = due.operation_id
RETURNING o.operation_id, o.page_id, o.subject, o.payload, o.fence, o.attempts

-- lock --
-- A refresh whose fence holds; it is kept from others.
SELECT operation_id, page_id, subject, payload, fence, attempts FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND status = 'processing' AND fence = %(fence)s::bigint
FOR NO KEY UPDATE

-- complete --
-- The good end of a refresh.
UPDATE operations
SET status = 'completed', error_message = NULL, error_kind = NULL, result = result || %(result)s::jsonb, lease_until = '-infinity',
    completed_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid AND status = 'processing'

-- fail --
-- The bad end of a refresh.
UPDATE operations
SET status = 'failed', error_message = left(%(message)s::text, 5000), error_kind = %(kind)s::text, result = result || %(result)s::jsonb,
    lease_until = '-infinity', completed_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid AND status = 'processing'

-- put_off --
-- A refresh waits again; where another of its model waits by now it ends, for that one does both.
UPDATE operations o
SET status = CASE WHEN waits.other THEN 'cancelled' ELSE 'pending' END, attempts = o.attempts - %(uncounted)s::integer,
    due_at = now() + make_interval(secs => %(seconds)s::double precision), lease_until = '-infinity',
    error_message = left(%(reason)s::text, 5000), completed_at = CASE WHEN waits.other THEN now() END, updated_at = now()
FROM (SELECT EXISTS (SELECT FROM operations p JOIN operations s
                       ON s.tenant_id = p.tenant_id AND s.bank_id = p.bank_id AND s.page_id = p.page_id
                     WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.operation_id = %(operation_id)s::uuid
                       AND p.status = 'pending') AS other) AS waits
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(operation_id)s::uuid AND o.status = 'processing'

-- cancel --
-- Ends the open refreshes of a model, in id order.
UPDATE operations o
SET status = 'cancelled', lease_until = '-infinity', updated_at = now(), completed_at = now()
FROM (SELECT l.operation_id FROM operations l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.page_id = %(page_id)s::uuid
        AND l.status IN ('pending', 'processing')
      ORDER BY l.operation_id FOR NO KEY UPDATE) AS ending
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = ending.operation_id

-- stop --
-- Ends the runs that work on an operation, or on a model, in id order: nothing more is asked for them.
UPDATE reflect_runs r SET status = 'cancelled', state = '{}', action = NULL, ended_at = now(), updated_at = now()
FROM (SELECT k.run_id FROM reflect_runs k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.kind = 'refresh' AND k.status = 'running'
        AND (k.request ->> 'operation_id' = (%(operation_id)s::uuid)::text OR k.request ->> 'page_id' = (%(page_id)s::uuid)::text)
      ORDER BY k.run_id FOR NO KEY UPDATE) AS ending
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = ending.run_id

-- due --
-- The refreshes of a bank that are due and that nobody works on.
SELECT operation_id FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND kind = 'refresh_mental_model' AND status IN ('pending', 'processing')
  AND due_at <= now() AND lease_until < now()
ORDER BY due_at, operation_id LIMIT %(at_most)s::integer
