-- stored --
-- Documents that were retained before.
SELECT d.document_id, d.content_hash, d.original_text, d.retain_params, d.tags, d.version,
       coalesce((SELECT max(c.chunk_index) + 1 FROM chunks c
                 WHERE c.tenant_id = d.tenant_id AND c.bank_id = d.bank_id AND c.document_id = d.document_id), 0) AS next_chunk
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = ANY (%(document_ids)s::uuid[])
  AND NOT d.is_pending

-- chunks --
-- The chunks of documents in order.
SELECT c.document_id, c.chunk_index, c.part, c.chunk_text, c.fingerprint
FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])
ORDER BY c.document_id, c.chunk_index

-- extractions --
-- What model calls once gave for chunks of these documents, by the key that decides the answer.
SELECT DISTINCT ON (c.extraction_key) c.extraction_key, c.extraction
FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])
  AND c.extraction_key = ANY (%(keys)s::text[]) AND c.extraction IS NOT NULL

-- overwriters --
-- Documents that the very next operation on them, not tried yet, is to replace with a text of its own.
SELECT n.id
FROM (SELECT DISTINCT ON (d.id) d.id, o.status, o.kind, o.attempts, o.payload
      FROM unnest(%(document_ids)s::uuid[]) AS d (id)
      JOIN operations o ON o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing') AND NOT o.yields
       AND (o.created_at, o.operation_id) > (%(created_at)s::timestamptz, %(operation_id)s::uuid)
       AND o.document_ids && %(document_ids)s::uuid[] AND d.id = ANY (o.document_ids)
      ORDER BY d.id, o.created_at, o.operation_id) AS n
JOIN documents k ON k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.document_id = n.id
WHERE n.status = 'pending' AND n.attempts = 0 AND n.kind = %(kind)s::text
  AND n.payload -> 'documents' @> jsonb_build_array(jsonb_build_object('id', k.external_id, 'mode', 'replace', 'is_again', false))

-- lock_versions --
-- Keeps documents from change, in id order, before their facts, and says at which version they are.
SELECT d.document_id, d.version, d.is_pending
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = ANY (%(document_ids)s::uuid[])
ORDER BY d.document_id
FOR NO KEY UPDATE

-- leaving_facts --
-- Facts of documents, but for those of chunks that are kept.
SELECT u.id, u.document_id
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = ANY (%(document_ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM unnest(%(kept_of)s::uuid[], %(kept)s::integer[]) AS k (document_id, former)
                  WHERE k.document_id = u.document_id AND k.former = u.chunk_index)
ORDER BY u.id

-- lock_facts --
-- Facts that are about to go, kept from change in id order.
SELECT u.id
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(fact_ids)s::uuid[])
ORDER BY u.id
FOR UPDATE

-- remove_archived --
-- Removes the invalidated facts of documents, but for those of chunks that are kept.
DELETE FROM invalidated_memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = ANY (%(document_ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM unnest(%(kept_of)s::uuid[], %(kept)s::integer[]) AS k (document_id, former)
                  WHERE k.document_id = u.document_id AND k.former = u.chunk_index)

-- remove_chunks --
-- Removes the chunks of documents, but for those that are kept.
DELETE FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM unnest(%(kept_of)s::uuid[], %(kept)s::integer[]) AS k (document_id, former)
                  WHERE k.document_id = c.document_id AND k.former = c.chunk_index)

-- set_kept --
-- Kept chunks as they are now; one that moves is put aside first, for another may still stand where it goes.
UPDATE chunks AS c
SET chunk_index = CASE WHEN k.former = k.chunk_index THEN c.chunk_index ELSE -1 - k.chunk_index END,
    part = k.part, fingerprint = k.fingerprint, chunk_text = coalesce(k.text, c.chunk_text)
FROM jsonb_to_recordset(%(kept)s::jsonb) AS k
    (document_id uuid, former integer, chunk_index integer, part integer, fingerprint text, text text)
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = k.document_id AND c.chunk_index = k.former
  AND (k.former <> k.chunk_index OR c.part IS DISTINCT FROM k.part OR c.fingerprint IS DISTINCT FROM k.fingerprint
       OR c.chunk_text <> coalesce(k.text, c.chunk_text))

-- place_moved --
-- Puts the chunks that were put aside where they go.
UPDATE chunks AS c SET chunk_index = -1 - c.chunk_index
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])
  AND c.chunk_index < 0

-- moving_facts --
-- Facts whose chunk moves, with its new place, kept from change in id order.
SELECT u.id, k.chunk_index
FROM memory_units u
JOIN unnest(%(moved_of)s::uuid[], %(moved)s::integer[], %(places)s::integer[]) AS k (document_id, former, chunk_index)
  ON k.document_id = u.document_id AND k.former = u.chunk_index
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = ANY (%(moved_of)s::uuid[])
ORDER BY u.id
FOR NO KEY UPDATE OF u

-- move_facts --
-- Facts follow their chunk to its new place; to whoever asks when they changed, they did not.
UPDATE memory_units AS u SET chunk_index = k.chunk_index
FROM unnest(%(ids)s::uuid[], %(places)s::integer[]) AS k (id, chunk_index)
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = k.id

-- move_archived --
-- Invalidated facts follow their chunk.
UPDATE invalidated_memory_units AS u SET chunk_index = k.chunk_index
FROM unnest(%(moved_of)s::uuid[], %(moved)s::integer[], %(places)s::integer[]) AS k (document_id, former, chunk_index)
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = k.document_id AND u.chunk_index = k.former

-- write --
-- Documents as they are now; the day they were made stays.
INSERT INTO documents AS d
    (tenant_id, bank_id, document_id, external_id, original_text, text_length, content_hash, retain_params, tags)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.document_id, n.external_id, n.text, n.text_length, n.content_hash, n.retain_params, n.tags
FROM jsonb_to_recordset(%(documents)s::jsonb) AS n
    (document_id uuid, external_id text, text text, text_length integer, content_hash text, retain_params jsonb, tags text[])
ORDER BY n.document_id
ON CONFLICT (tenant_id, bank_id, document_id) DO UPDATE
SET original_text = excluded.original_text, text_length = excluded.text_length, content_hash = excluded.content_hash,
    retain_params = excluded.retain_params, tags = excluded.tags, updated_at = now(),
    version = CASE WHEN d.is_pending THEN 1 ELSE d.version + 1 END, is_pending = false

-- set_files --
-- Notes the uploaded files that documents, which the caller has written and so locked, were read from.
-- Of kept files, each takes its own and lets go of one from before.
WITH n AS (
    SELECT * FROM unnest(%(document_ids)s::uuid[], %(names)s::text[], %(content_types)s::text[], %(kept)s::uuid[])
        AS n (document_id, name, content_type, kept)
), let_go AS (
    UPDATE kept_files AS k SET document_id = NULL
    FROM n
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.document_id = n.document_id
      AND k.file_id IS DISTINCT FROM n.kept
), taken AS (
    UPDATE kept_files AS k SET document_id = n.document_id, held_at = coalesce(k.held_at, now())
    FROM n
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.file_id = n.kept AND NOT k.is_condemned
)
UPDATE documents AS d SET file_original_name = n.name, file_content_type = n.content_type
FROM n
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = n.document_id

-- write_chunks --
-- New chunks of documents.
INSERT INTO chunks (tenant_id, bank_id, document_id, chunk_index, part, chunk_text, content_hash, fingerprint, extraction, extraction_key)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.document_id, n.chunk_index, n.part, n.text, n.content_hash, n.fingerprint, n.extraction,
       n.extraction_key
FROM jsonb_to_recordset(%(chunks)s::jsonb) AS n
    (document_id uuid, chunk_index integer, part integer, text text, content_hash text, fingerprint text, extraction jsonb,
     extraction_key text)
ORDER BY n.document_id, n.chunk_index

-- note --
-- Lines of history for those of the documents that are there.
INSERT INTO document_revisions (tenant_id, bank_id, document_id, revision_id, kind, operation_id, facts_added, facts_removed, detail)
SELECT d.tenant_id, d.bank_id, d.document_id, gen_random_uuid(), n.kind, n.operation_id, n.facts_added, n.facts_removed, n.detail
FROM jsonb_to_recordset(%(events)s::jsonb) AS n
    (document_id uuid, kind text, operation_id uuid, facts_added integer, facts_removed integer, detail jsonb)
JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = n.document_id AND NOT d.is_pending
ORDER BY d.document_id

-- twins --
-- Other documents of the same body and the same tags, by the names of the oldest.
SELECT m.document_id, ARRAY(
    SELECT o.external_id
    FROM documents o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.content_hash = m.content_hash AND o.document_id <> m.document_id
      AND NOT o.is_pending AND o.tags @> m.tags AND o.tags <@ m.tags
    ORDER BY o.created_at, o.document_id LIMIT %(most)s::integer
) AS names
FROM documents m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.document_id = ANY (%(document_ids)s::uuid[])

-- find --
-- The id of a document that passes the filters.
SELECT d.document_id
FROM documents AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = %(external_id)s::text AND NOT d.is_pending
  AND {{d_tags_pass}}
  AND {{d_is_own}}

-- relabel --
-- New labels for a document that the caller has locked.
UPDATE documents SET tags = %(tags)s::text[], retain_params = %(retain_params)s::jsonb, version = version + 1, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = %(document_id)s::uuid

-- lock_writers --
-- Operations that would write a document, or wrote a part of it and failed, kept from change in id order.
SELECT o.operation_id, o.kind, o.status, o.payload, o.document_ids, o.parent_id
FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing', 'failed', 'cancelled')
  AND (%(document_id)s::uuid = ANY (o.document_ids)
       OR o.operation_id IN (SELECT r.operation_id FROM document_revisions r
                             WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.document_id = %(document_id)s::uuid))
ORDER BY o.operation_id
FOR NO KEY UPDATE

-- relieve_writers --
-- What is left to do for operations, one after the other, once a document is gone: whoever works on one must begin anew.
UPDATE operations AS o
SET payload = n.payload, document_ids = n.document_ids, fence = o.fence + 1, lease_until = '-infinity', updated_at = now(),
    status = CASE WHEN o.status IN ('failed', 'cancelled') THEN o.status WHEN n.is_over THEN 'cancelled' ELSE 'pending' END,
    completed_at = CASE WHEN o.completed_at IS NULL AND n.is_over THEN now() ELSE o.completed_at END,
    error_message = CASE WHEN n.is_over AND o.status IN ('pending', 'processing') THEN 'its document was deleted' ELSE o.error_message END
FROM jsonb_to_recordset(%(left)s::jsonb) AS n (operation_id uuid, payload jsonb, document_ids uuid[], is_over boolean)
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = n.operation_id

-- remove --
-- Removes a document whose facts are gone, with its chunks and its history.
DELETE FROM documents WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = %(document_id)s::uuid

-- events --
-- The history of a document, the latest first, with how long it is.
SELECT (SELECT count(*) FROM document_revisions c
        WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = %(document_id)s::uuid) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT r.kind, r.created_at, r.operation_id, r.detail, r.facts_added, r.facts_removed, r.revision_id
    FROM document_revisions r
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.document_id = %(document_id)s::uuid
    ORDER BY r.created_at DESC, r.revision_id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY p.created_at DESC, p.revision_id

-- chunk_page --
-- The chunks of a document in order, with how many there are.
SELECT (SELECT count(*) FROM chunks c
        WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = %(document_id)s::uuid) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT c.chunk_index, c.chunk_text, c.created_at
    FROM chunks c
    WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = %(document_id)s::uuid
    ORDER BY c.chunk_index
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY p.chunk_index

-- chunk --
-- One chunk of a document.
SELECT c.chunk_index, c.chunk_text, c.created_at
FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = %(document_id)s::uuid
  AND c.chunk_index = %(index)s::integer

-- page --
-- Documents that pass the filters, last updated first, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT d.document_id, d.external_id, d.content_hash, d.created_at, d.updated_at, d.text_length, d.retain_params, d.tags,
           strpos(lower(d.external_id), lower(%(text)s::text)) > 0 AS is_in_id,
           strpos(lower(coalesce(d.original_text, '')), lower(%(text)s::text)) > 0 AS is_in_text
    FROM documents AS d
    WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND NOT d.is_pending
      AND {{d_tags_pass}}
      AND {{d_is_own}}
      AND (%(axis)s::text IS NULL
           OR (%(start)s::timestamptz IS NULL
               OR CASE %(axis)s::text WHEN 'created_at' THEN d.created_at ELSE d.updated_at END >= %(start)s::timestamptz)
              AND (%(end)s::timestamptz IS NULL
                   OR CASE %(axis)s::text WHEN 'created_at' THEN d.created_at ELSE d.updated_at END < %(end)s::timestamptz))
), found AS MATERIALIZED (
    SELECT * FROM matching AS m WHERE %(text)s::text IS NULL OR m.is_in_id OR m.is_in_text
)
SELECT (SELECT count(*) FROM found) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT f.*, (
        SELECT jsonb_object_agg(c.fact_type, c.units) FROM (
            SELECT u.fact_type, count(*) AS units FROM memory_units AS u
            WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = f.document_id
            GROUP BY u.fact_type
        ) AS c
    ) AS facts_by_type
    FROM found AS f
    ORDER BY CASE WHEN %(axis)s::text = 'created_at' THEN f.created_at ELSE f.updated_at END DESC, f.document_id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY CASE WHEN %(axis)s::text = 'created_at' THEN p.created_at ELSE p.updated_at END DESC, p.document_id

-- view --
-- One document that passes the filters, with its text and the number of its facts, and of observations on them, by type.
SELECT d.external_id, d.content_hash, d.created_at, d.updated_at, d.text_length, d.retain_params, d.tags, d.original_text, (
    SELECT jsonb_object_agg(c.fact_type, c.units) FROM (
        SELECT u.fact_type, count(*) AS units FROM memory_units AS u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = d.document_id
        GROUP BY u.fact_type
        UNION ALL
        SELECT 'observation', count(DISTINCT o.observation_id)
        FROM observation_evidence AS o
        JOIN memory_units AS f ON f.tenant_id = o.tenant_id AND f.bank_id = o.bank_id AND f.id = o.fact_id
        JOIN memory_units AS b ON b.tenant_id = o.tenant_id AND b.bank_id = o.bank_id AND b.id = o.observation_id
             AND b.fact_type = 'observation'
        WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND f.document_id = d.document_id
    ) AS c
) AS facts_by_type
FROM documents AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = %(external_id)s::text
  AND NOT d.is_pending
  AND {{d_tags_pass}}
  AND {{d_is_own}}
