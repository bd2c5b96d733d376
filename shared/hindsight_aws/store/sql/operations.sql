-- add --
-- Operations, pending and due now; one whose id is taken is left out of the answer.
INSERT INTO operations
    (tenant_id, bank_id, operation_id, parent_id, kind, subject, payload, items_count, document_external_id, document_id,
     document_ids, result)
SELECT %(tenant_id)s, %(bank_id)s::uuid, o.operation_id, o.parent_id, o.kind, o.subject, o.payload, o.items_count,
       o.document_external_id, o.document_ids[1], o.document_ids, o.result
FROM jsonb_to_recordset(%(operations)s::jsonb) AS o
    (operation_id uuid, parent_id uuid, kind text, subject text, payload jsonb, items_count integer, document_external_id text,
     document_ids uuid[], result jsonb)
ORDER BY o.operation_id
ON CONFLICT DO NOTHING
RETURNING operation_id, created_at

-- find --
-- An operation as it is now.
SELECT operation_id, bank_id, parent_id, kind, status, subject, items_count, attempts, due_at, created_at, error_message, error_kind, result
FROM operations WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s::uuid

-- children --
-- The operations under a parent, in order of submission.
SELECT c.operation_id
FROM operations p
JOIN operations c ON c.tenant_id = p.tenant_id AND c.bank_id = p.bank_id AND c.parent_id = p.operation_id
WHERE p.tenant_id = %(tenant_id)s AND p.operation_id = %(operation_id)s::uuid
ORDER BY c.created_at, (c.result ->> 'sub_batch_index')::integer, c.operation_id

-- lease --
-- Takes the lease of an open operation of a kind, if it is due and free; the attempt counts from here on. A locked row is being committed.
UPDATE operations AS o
SET status = 'processing', attempts = attempts + 1, fence = fence + 1, woken = false, updated_at = now(),
    lease_until = now() + make_interval(secs => %(seconds)s::double precision)
FROM (SELECT f.bank_id, f.operation_id FROM operations f
      WHERE f.tenant_id = %(tenant_id)s AND f.operation_id = %(operation_id)s::uuid AND f.kind = %(kind)s::text
        AND f.status IN ('pending', 'processing') AND f.due_at <= now() AND f.lease_until < now()
        AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = %(tenant_id)s AND t.suspended_at IS NOT NULL)
      FOR NO KEY UPDATE SKIP LOCKED) AS free
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = free.bank_id AND o.operation_id = free.operation_id
RETURNING o.operation_id, o.bank_id, o.kind, o.subject, o.payload, o.parent_id, o.document_ids, o.fence, o.attempts, o.revivals,
    o.created_at

-- mark_woken --
-- Tells the holder of an operation that somebody asked for it meanwhile.
UPDATE operations AS o SET woken = true
FROM (SELECT h.bank_id, h.operation_id FROM operations h
      WHERE h.tenant_id = %(tenant_id)s AND h.operation_id = %(operation_id)s::uuid AND h.status = 'processing' AND h.lease_until >= now()
      FOR NO KEY UPDATE SKIP LOCKED) AS locked
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = locked.bank_id AND o.operation_id = locked.operation_id

-- make_document_places --
-- Rows for documents that do not exist yet: they only carry the lease, and are shown to nobody.
INSERT INTO documents (tenant_id, bank_id, document_id, external_id, is_pending)
SELECT %(tenant_id)s, %(bank_id)s::uuid, d.id, d.external_id, true
FROM unnest(%(document_ids)s::uuid[], %(external_ids)s::text[]) AS d (id, external_id)
ORDER BY d.id
ON CONFLICT DO NOTHING

-- lock_documents --
-- Waits for the documents' rows, in order; what their holders committed meanwhile is seen by the next statement only.
SELECT document_id FROM documents
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = ANY (%(document_ids)s::uuid[])
ORDER BY document_id FOR NO KEY UPDATE

-- lease_documents --
-- Takes the leases of documents already locked, where they are free and no earlier operation that does not yield waits for them.
UPDATE documents AS d
SET lease_until = now() + make_interval(secs => %(seconds)s::double precision), lease_holder = %(operation_id)s::uuid, fence = d.fence + 1
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = ANY (%(document_ids)s::uuid[])
  AND (d.lease_until < now() OR d.lease_holder = %(operation_id)s::uuid)
  AND NOT EXISTS (
      SELECT FROM operations o
      WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing') AND NOT o.yields
        AND (o.created_at, o.operation_id) < (%(created_at)s::timestamptz, %(operation_id)s::uuid)
        AND d.document_id = ANY (o.document_ids))
RETURNING d.document_id

-- hand_back --
-- Ends a lease that could not be used: the attempt does not count, and whoever holds the document wakes the operation.
UPDATE operations SET status = 'pending', attempts = attempts - 1, lease_until = '-infinity', woken = true
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s::uuid AND fence = %(fence)s::bigint

-- release_documents --
-- Frees the documents that operations hold, locked in order.
UPDATE documents AS d SET lease_until = '-infinity', lease_holder = NULL
FROM (SELECT l.document_id FROM documents l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.document_id = ANY (%(document_ids)s::uuid[])
        AND l.lease_holder = ANY (%(operation_ids)s::uuid[])
      ORDER BY l.document_id FOR NO KEY UPDATE) AS locked
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = locked.document_id

-- drop_document_places --
-- Removes the rows that only carried operations' leases.
DELETE FROM documents
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = ANY (%(document_ids)s::uuid[])
  AND is_pending AND lease_holder IS NULL

-- renew --
-- Extends the lease from now, and says how far the work is.
UPDATE operations
SET lease_until = now() + make_interval(secs => %(seconds)s::double precision), updated_at = now(),
    progress = coalesce(jsonb_build_object('at', now()) || %(progress)s::jsonb, progress)
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- renew_documents --
-- Extends the leases on the operation's documents from now, locked in order.
UPDATE documents AS d SET lease_until = now() + make_interval(secs => %(seconds)s::double precision)
FROM (SELECT l.document_id FROM documents l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.document_id = ANY (%(document_ids)s::uuid[])
        AND l.lease_holder = %(operation_id)s::uuid
      ORDER BY l.document_id FOR NO KEY UPDATE) AS locked
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = locked.document_id
RETURNING d.document_id

-- keep_extractions --
-- Keeps results of model calls until the operation completes.
INSERT INTO kept_extractions (tenant_id, bank_id, operation_id, extraction_key, extraction)
SELECT %(tenant_id)s, %(bank_id)s::uuid, %(operation_id)s::uuid, k.key, k.extraction::jsonb
FROM unnest(%(keys)s::text[], %(extractions)s::text[]) AS k (key, extraction)
ON CONFLICT DO NOTHING

-- kept_extractions --
-- What earlier attempts of an operation kept.
SELECT extraction_key, extraction FROM kept_extractions
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid

-- drop_kept --
-- Removes what operations kept of model calls, once their facts are there or are not wanted any more.
DELETE FROM kept_extractions
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = ANY (%(operation_ids)s::uuid[])

-- complete --
-- Ends an operation well, if its fence holds; its payload goes, and what all its attempts used is in its result.
UPDATE operations
SET status = 'completed', payload = '{}', error_message = NULL, error_kind = NULL,
    result = result || %(result)s::jsonb
        || jsonb_build_object('usage', {{used}}),
    progress = progress || jsonb_build_object('stage', 'completed', 'at', now(), 'processed', progress -> 'total'),
    lease_until = '-infinity', updated_at = now(), completed_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- fail --
-- Ends an operation badly, if its fence holds; what its attempts used is in its result.
UPDATE operations
SET status = 'failed', payload = %(payload)s::jsonb, error_message = left(%(message)s::text, 5000), error_kind = %(kind)s::text,
    result = result || %(result)s::jsonb
        || jsonb_build_object('usage', {{used}}),
    lease_until = '-infinity', updated_at = now(), completed_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- defer --
-- Gives an operation back, to be done later, if its fence holds.
UPDATE operations
SET status = 'pending', attempts = attempts - %(uncounted)s::integer, error_message = left(%(reason)s::text, 5000),
    due_at = now() + make_interval(secs => %(seconds)s::double precision), lease_until = '-infinity', updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- revive --
-- Ends a round of attempts at an operation: it waits long for the fault to pass, and holds up no later one meanwhile.
UPDATE operations
SET status = 'pending', revivals = revivals + 1, yields = true, error_message = left(%(reason)s::text, 5000), error_kind = %(kind)s::text,
    due_at = now() + make_interval(secs => %(seconds)s::double precision), lease_until = '-infinity', updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- give_way --
-- Lets the next operation on its documents go first: the attempt does not count, and it is taken up again when that one has ended.
UPDATE operations SET status = 'pending', attempts = attempts - 1, yields = true, lease_until = '-infinity', updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- overtaken --
-- Documents of an operation that later ones have written since: the last that replaced what was there, else the last that added to it.
SELECT DISTINCT ON (d.id) d.id, o.operation_id,
       NOT EXISTS (SELECT FROM document_revisions r
                   WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.document_id = d.id
                     AND r.operation_id = o.operation_id AND r.kind <> 'retain') AS is_replaced
FROM operations o CROSS JOIN LATERAL unnest(o.document_ids) AS d (id)
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status = 'completed'
  AND o.kind <> 'file_convert_retain'
  AND (o.created_at, o.operation_id) > (%(created_at)s::timestamptz, %(operation_id)s::uuid)
  AND d.id = ANY (%(document_ids)s::uuid[])
ORDER BY d.id, is_replaced DESC, o.created_at DESC, o.operation_id DESC

-- is_held --
-- Whether the fence still holds and nobody ended the operation.
SELECT EXISTS (
    SELECT FROM operations
    WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
      AND fence = %(fence)s::bigint AND status = 'processing')

-- waiting --
-- The operation whose turn each of these documents is; its wake-up is the caller's to send, and its end wakes the one after it.
WITH next AS (
    SELECT DISTINCT ON (d.id) o.operation_id
    FROM unnest(%(document_ids)s::uuid[]) AS d (id)
    JOIN operations o ON o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing')
     AND (NOT o.yields OR o.due_at <= now()) AND o.document_ids && %(document_ids)s::uuid[] AND d.id = ANY (o.document_ids)
    ORDER BY d.id, o.yields, o.created_at, o.operation_id
)
SELECT DISTINCT o.operation_id FROM operations o JOIN next USING (operation_id)
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status = 'pending'

-- lock_parent --
-- Holds a parent while its children are counted, so that two that end together do not both miss the end.
SELECT operation_id FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(parent_id)s::uuid FOR NO KEY UPDATE

-- roll_up --
-- Ends a parent whose children have all ended: failed if one failed, else cancelled if one was, else completed.
UPDATE operations AS p
SET status = CASE WHEN c.failed > 0 THEN 'failed' WHEN c.cancelled > 0 THEN 'cancelled' ELSE 'completed' END,
    error_message = c.message, updated_at = now(), completed_at = now(),
    result = p.result || jsonb_build_object('unit_ids_count', c.units, 'extraction_errors_count', c.problems, 'usage', jsonb_build_object(
        'input_tokens', c.input, 'output_tokens', c.output, 'total_tokens', c.input + c.output, 'cached_tokens', c.cached,
        'thoughts_tokens', 0))
FROM (SELECT count(*) FILTER (WHERE k.status = 'failed') AS failed,
             count(*) FILTER (WHERE k.status = 'cancelled') AS cancelled,
             count(*) FILTER (WHERE k.status IN ('pending', 'processing')) AS open,
             mode() WITHIN GROUP (ORDER BY k.error_message) FILTER (WHERE k.status = 'failed') AS message,
             coalesce(sum((k.result ->> 'unit_ids_count')::bigint), 0) AS units,
             coalesce(sum((k.result ->> 'extraction_errors_count')::bigint), 0) AS problems,
             coalesce(sum((k.result #>> '{usage,input_tokens}')::bigint), 0) AS input,
             coalesce(sum((k.result #>> '{usage,output_tokens}')::bigint), 0) AS output,
             coalesce(sum((k.result #>> '{usage,cached_tokens}')::bigint), 0) AS cached
      FROM operations k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.parent_id = %(parent_id)s::uuid) AS c
WHERE p.tenant_id = %(tenant_id)s AND p.bank_id = %(bank_id)s::uuid AND p.operation_id = %(parent_id)s::uuid
  AND c.open = 0 AND p.status IN ('pending', 'processing')

-- page --
-- Operations that pass the filters, newest first, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT o.operation_id, o.created_at FROM operations AS o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
      AND (%(status)s::text IS NULL OR o.status = %(status)s::text)
      AND (%(kind)s::text IS NULL OR o.kind = %(kind)s::text)
      AND (%(subject)s::text IS NULL OR o.subject = %(subject)s::text)
      AND (NOT %(without_parents)s::boolean OR NOT EXISTS (
              SELECT FROM operations AS c
              WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id))
)
SELECT (SELECT count(*) FROM matching) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT o.operation_id, o.kind, o.status, o.items_count, o.document_external_id, o.created_at, o.updated_at, o.completed_at,
           o.error_message, o.attempts, CASE WHEN o.status = 'pending' AND o.due_at > now() THEN o.due_at END AS next_try_at, o.progress, o.result,
           NULL::jsonb AS payload
    FROM (SELECT m.operation_id FROM matching AS m
          ORDER BY m.created_at DESC, m.operation_id LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint) AS k
    JOIN operations AS o ON o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = k.operation_id
) AS p ON true
ORDER BY p.created_at DESC, p.operation_id

-- view --
-- One operation of a bank; a consolidation that goes on is as far as the facts that it covers are.
SELECT o.operation_id, o.kind, CASE WHEN o.status = 'pending' AND work.processed > 0 THEN 'processing' ELSE o.status END AS status,
       o.items_count, o.document_external_id, o.created_at, o.updated_at, o.completed_at,
       o.error_message, o.attempts, CASE WHEN o.status = 'pending' AND o.due_at > now() THEN o.due_at END AS next_try_at,
       CASE WHEN work.total > 0 THEN jsonb_build_object('stage', 'consolidating', 'at', now(), 'processed', work.processed, 'total', work.total)
            ELSE o.progress END AS progress,
       o.result, CASE WHEN %(with_payload)s::boolean THEN o.payload END AS payload
FROM operations AS o
CROSS JOIN LATERAL (
    SELECT count(*) AS total, count(*) FILTER (WHERE w.state <> 'pending') AS processed
    FROM consolidation_work AS w
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id IS NOT NULL AND NOT w.is_rebuild
      AND (w.state = 'pending' AND w.requested AND isfinite(w.due_at) OR coalesce(w.done_at, w.failed_at) >= o.created_at)
      AND (o.payload -> 'scope_ids' IS NULL OR o.payload -> 'scope_ids' ? w.scope_id::text)
      AND o.kind = 'consolidation' AND o.status IN ('pending', 'processing')
) AS work
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(operation_id)s::uuid
  AND (%(subject)s::text IS NULL OR o.subject = %(subject)s::text)

-- child_views --
-- The operations under a parent, in order of submission.
SELECT operation_id, status, items_count, error_message, progress
FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND parent_id = %(operation_id)s::uuid
ORDER BY created_at, operation_id

-- cancel --
-- Ends what is open of an operation, or of those under it, locked in order; whoever works on one of them can no longer commit.
UPDATE operations AS o
SET status = 'cancelled', lease_until = '-infinity', yields = false, updated_at = now(), completed_at = now()
FROM (SELECT l.operation_id FROM operations l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.status IN ('pending', 'processing')
        AND (l.operation_id = %(operation_id)s::uuid OR l.parent_id = %(operation_id)s::uuid)
        AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = l.tenant_id AND c.bank_id = l.bank_id AND c.parent_id = l.operation_id)
      ORDER BY l.operation_id FOR NO KEY UPDATE) AS ending
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = ending.operation_id
RETURNING o.operation_id, o.parent_id, o.document_ids

-- retry --
-- Makes an operation that failed, was cancelled or waits pending again, or those under it that failed or were cancelled, as if new.
UPDATE operations AS o
SET status = 'pending', attempts = 0, revivals = 0, yields = false, fence = o.fence + 1, due_at = now(), lease_until = '-infinity',
    error_message = NULL, error_kind = NULL, progress = NULL, completed_at = NULL, updated_at = now()
FROM (SELECT l.operation_id FROM operations l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid
        AND (l.operation_id = %(operation_id)s::uuid OR l.parent_id = %(operation_id)s::uuid)
        AND (l.status IN ('failed', 'cancelled')
             OR (l.operation_id = %(operation_id)s::uuid AND l.status = 'pending' AND l.due_at > now()))
        AND NOT EXISTS (SELECT FROM operations p WHERE p.tenant_id = l.tenant_id AND p.bank_id = l.bank_id AND p.page_id = l.page_id
                        AND p.status = 'pending' AND p.operation_id <> l.operation_id)
        AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = l.tenant_id AND c.bank_id = l.bank_id AND c.parent_id = l.operation_id)
      ORDER BY l.operation_id FOR NO KEY UPDATE) AS again
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = again.operation_id
RETURNING o.operation_id, o.kind, o.parent_id

-- reopen_parent --
-- A parent that had ended waits for its children again.
UPDATE operations SET status = 'pending', error_message = NULL, completed_at = NULL, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(parent_id)s::uuid
  AND status NOT IN ('pending', 'processing')

-- lock_family --
-- Holds the operations under an operation, then itself, in the order in which whoever ends one of them takes them.
SELECT operation_id FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND (operation_id = %(operation_id)s::uuid OR parent_id = %(operation_id)s::uuid)
ORDER BY operation_id = %(operation_id)s::uuid, operation_id FOR UPDATE

-- remove --
-- Removes the record of an operation that has ended, with those under it.
DELETE FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND status NOT IN ('pending', 'processing')
RETURNING operation_id

-- expire --
-- Removes the oldest records of operations that ended more than some days ago, with those under them.
DELETE FROM operations AS o
USING (SELECT e.operation_id FROM operations e
       WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.parent_id IS NULL
         AND e.completed_at < now() - make_interval(days => %(days)s::integer)
       ORDER BY e.completed_at LIMIT %(at_most)s::integer FOR UPDATE SKIP LOCKED) AS old
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = old.operation_id

-- write_state --
-- What became of the operations of a write: how many are known, whether one is open or failed, whether facts wait for consolidation or failed.
WITH wrote AS MATERIALIZED (
    SELECT o.status, o.result, o.completed_at, true AS is_named FROM operations o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = ANY (%(operation_ids)s::uuid[])
      AND (%(subject)s::text IS NULL OR o.subject = %(subject)s::text)
    UNION ALL
    SELECT c.status, c.result, c.completed_at, false FROM operations c
    WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.parent_id = ANY (%(operation_ids)s::uuid[])
), left_over AS (
    SELECT k.state FROM wrote w
    CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(w.result -> 'document_ids', '[]')) AS written (external_id)
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = written.external_id
    JOIN memory_units f ON f.tenant_id = d.tenant_id AND f.bank_id = d.bank_id AND f.document_id = d.document_id
    JOIN consolidation_work k ON k.tenant_id = f.tenant_id AND k.bank_id = f.bank_id AND k.fact_id = f.id
    WHERE k.state <> 'done' AND k.created_at <= w.completed_at AND NOT k.is_rebuild
)
SELECT (SELECT count(*) FROM wrote WHERE is_named) AS known,
       EXISTS (SELECT FROM wrote WHERE status IN ('pending', 'processing')) AS is_open,
       EXISTS (SELECT FROM wrote WHERE status IN ('failed', 'cancelled')) AS has_failed,
       EXISTS (SELECT FROM left_over) AS is_unconsolidated,
       EXISTS (SELECT FROM left_over WHERE state = 'failed') AS has_failed_work
