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
RETURNING operation_id

-- find --
-- An operation as it is now.
SELECT operation_id, bank_id, kind, status, items_count, attempts, due_at, error_message, result
FROM operations WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s::uuid

-- children --
-- The operations under a parent, in order of submission.
SELECT c.operation_id
FROM operations p
JOIN operations c ON c.tenant_id = p.tenant_id AND c.bank_id = p.bank_id AND c.parent_id = p.operation_id
WHERE p.tenant_id = %(tenant_id)s AND p.operation_id = %(operation_id)s::uuid
ORDER BY c.created_at, (c.result ->> 'sub_batch_index')::integer, c.operation_id

-- lease --
-- Takes the lease of an open operation that is due and free; the attempt counts from here on. A locked row is being committed.
UPDATE operations AS o
SET status = 'processing', attempts = attempts + 1, fence = fence + 1, woken = false, updated_at = now(),
    lease_until = now() + make_interval(secs => %(seconds)s::double precision)
FROM (SELECT f.bank_id, f.operation_id FROM operations f
      WHERE f.tenant_id = %(tenant_id)s AND f.operation_id = %(operation_id)s::uuid
        AND f.status IN ('pending', 'processing') AND f.due_at <= now() AND f.lease_until < now()
      FOR NO KEY UPDATE SKIP LOCKED) AS free
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = free.bank_id AND o.operation_id = free.operation_id
RETURNING o.operation_id, o.bank_id, o.kind, o.subject, o.payload, o.parent_id, o.document_ids, o.fence, o.attempts, o.created_at

-- mark_woken --
-- Tells the holder of an operation that somebody asked for it meanwhile.
UPDATE operations AS o SET woken = true
FROM (SELECT h.bank_id, h.operation_id FROM operations h
      WHERE h.tenant_id = %(tenant_id)s AND h.operation_id = %(operation_id)s::uuid AND h.status = 'processing' AND h.lease_until >= now()
      FOR NO KEY UPDATE SKIP LOCKED) AS held
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = held.bank_id AND o.operation_id = held.operation_id

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
-- Takes the leases of documents already locked, where they are free and no earlier operation waits for the document.
UPDATE documents AS d
SET lease_until = now() + make_interval(secs => %(seconds)s::double precision), lease_holder = %(operation_id)s::uuid, fence = d.fence + 1
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = ANY (%(document_ids)s::uuid[])
  AND (d.lease_until < now() OR d.lease_holder = %(operation_id)s::uuid)
  AND NOT EXISTS (
      SELECT FROM operations o
      WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing')
        AND (o.created_at, o.operation_id) < (%(created_at)s::timestamptz, %(operation_id)s::uuid)
        AND d.document_id = ANY (o.document_ids))
RETURNING d.document_id

-- hand_back --
-- Ends a lease that could not be used: the attempt does not count, and whoever holds the document wakes the operation.
UPDATE operations SET status = 'pending', attempts = attempts - 1, lease_until = '-infinity', woken = true
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s::uuid AND fence = %(fence)s::bigint

-- release_documents --
-- Frees the documents an operation holds, locked in order.
UPDATE documents AS d SET lease_until = '-infinity', lease_holder = NULL
FROM (SELECT l.document_id FROM documents l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.document_id = ANY (%(document_ids)s::uuid[])
        AND l.lease_holder = %(operation_id)s::uuid
      ORDER BY l.document_id FOR NO KEY UPDATE) AS held
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = held.document_id

-- drop_document_places --
-- Removes the rows that only carried an operation's leases.
DELETE FROM documents
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = ANY (%(document_ids)s::uuid[])
  AND is_pending AND lease_holder IS NULL

-- renew --
-- Extends the lease from now.
UPDATE operations SET lease_until = now() + make_interval(secs => %(seconds)s::double precision), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- renew_documents --
-- Extends the leases on the operation's documents from now, locked in order.
UPDATE documents AS d SET lease_until = now() + make_interval(secs => %(seconds)s::double precision)
FROM (SELECT l.document_id FROM documents l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.document_id = ANY (%(document_ids)s::uuid[])
        AND l.lease_holder = %(operation_id)s::uuid
      ORDER BY l.document_id FOR NO KEY UPDATE) AS held
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = held.document_id
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
-- Removes what an operation kept, once its facts are there.
DELETE FROM kept_extractions
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid

-- complete --
-- Ends an operation well, if its fence holds; its payload goes.
UPDATE operations
SET status = 'completed', payload = '{}', result = result || %(result)s::jsonb, error_message = NULL, error_kind = NULL,
    lease_until = '-infinity', updated_at = now(), completed_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- fail --
-- Ends an operation badly, if its fence holds.
UPDATE operations
SET status = 'failed', payload = %(payload)s::jsonb, result = result || %(result)s::jsonb, error_message = %(message)s::text, error_kind = %(kind)s::text,
    lease_until = '-infinity', updated_at = now(), completed_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- defer --
-- Gives an operation back, to be done later, if its fence holds.
UPDATE operations
SET status = 'pending', attempts = attempts - %(uncounted)s::integer, error_message = %(reason)s::text,
    due_at = now() + make_interval(secs => %(seconds)s::double precision), lease_until = '-infinity', updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid
  AND fence = %(fence)s::bigint AND status = 'processing'
RETURNING operation_id

-- waiting --
-- The operation whose turn each of these documents is; its wake-up is the caller's to send, and its end wakes the one after it.
WITH next AS (
    SELECT DISTINCT ON (d.id) o.operation_id
    FROM unnest(%(document_ids)s::uuid[]) AS d (id)
    JOIN operations o ON o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing')
     AND o.document_ids && %(document_ids)s::uuid[] AND d.id = ANY (o.document_ids)
    ORDER BY d.id, o.created_at, o.operation_id
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
    result = p.result || jsonb_build_object('unit_ids_count', c.units, 'extraction_errors_count', c.problems)
FROM (SELECT count(*) FILTER (WHERE k.status = 'failed') AS failed,
             count(*) FILTER (WHERE k.status = 'cancelled') AS cancelled,
             count(*) FILTER (WHERE k.status IN ('pending', 'processing')) AS open,
             mode() WITHIN GROUP (ORDER BY k.error_message) FILTER (WHERE k.status = 'failed') AS message,
             coalesce(sum((k.result ->> 'unit_ids_count')::bigint), 0) AS units,
             coalesce(sum((k.result ->> 'extraction_errors_count')::bigint), 0) AS problems
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
           o.error_message, o.attempts, o.due_at, o.progress, o.result, NULL::jsonb AS payload
    FROM (SELECT m.operation_id FROM matching AS m
          ORDER BY m.created_at DESC, m.operation_id LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint) AS k
    JOIN operations AS o ON o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = k.operation_id
) AS p ON true
ORDER BY p.created_at DESC, p.operation_id

-- view --
-- One operation of a bank.
SELECT o.operation_id, o.kind, o.status, o.items_count, o.document_external_id, o.created_at, o.updated_at, o.completed_at,
       o.error_message, o.attempts, o.due_at, o.progress, o.result,
       CASE WHEN %(with_payload)s::boolean THEN o.payload END AS payload
FROM operations AS o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(operation_id)s::uuid
  AND (%(subject)s::text IS NULL OR o.subject = %(subject)s::text)

-- child_views --
-- The operations under a parent, in order of submission.
SELECT operation_id, status, items_count, error_message
FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND parent_id = %(operation_id)s::uuid
ORDER BY created_at, operation_id
