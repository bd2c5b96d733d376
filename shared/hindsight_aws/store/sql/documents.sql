-- stored --
-- Documents that were retained before.
SELECT d.document_id, d.content_hash, d.original_text, d.retain_params, d.tags,
       coalesce((SELECT max(c.chunk_index) + 1 FROM chunks c
                 WHERE c.tenant_id = d.tenant_id AND c.bank_id = d.bank_id AND c.document_id = d.document_id), 0) AS next_chunk
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = ANY (%(document_ids)s::uuid[])
  AND NOT d.is_pending

-- extractions --
-- What model calls once gave for chunks of these documents, by the key that decides the answer.
SELECT DISTINCT ON (c.extraction_key) c.extraction_key, c.extraction
FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])
  AND c.extraction_key = ANY (%(keys)s::text[]) AND c.extraction IS NOT NULL

-- lock_documents --
-- Keeps documents from change, in id order, before their facts: who writes observations on these waits, or has finished.
SELECT document_id
FROM documents
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = ANY (%(document_ids)s::uuid[])
ORDER BY document_id
FOR NO KEY UPDATE

-- lock_facts_of --
-- Facts of these documents, kept from change in id order until they are gone.
SELECT u.id
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = ANY (%(document_ids)s::uuid[])
ORDER BY u.id
FOR UPDATE

-- uncount_mentions --
-- Takes the mentions by facts that are about to go off their entities.
UPDATE entities AS e SET mention_count = greatest(e.mention_count - gone.mentions, 0)
FROM (SELECT l.entity_id, count(*)::integer AS mentions
      FROM memory_units u
      JOIN unit_entities l ON l.tenant_id = u.tenant_id AND l.bank_id = u.bank_id AND l.unit_id = u.id
      WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = ANY (%(document_ids)s::uuid[])
      GROUP BY l.entity_id) AS gone
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.entity_id = gone.entity_id

-- remove_facts --
-- Removes the documents' facts, with all that hangs on them; says how many went, with how many terms, by type.
WITH gone AS (
    DELETE FROM memory_units u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = ANY (%(document_ids)s::uuid[])
    RETURNING u.fact_type, u.terms
)
SELECT g.fact_type, count(*) AS units, sum(g.terms)::bigint AS terms FROM gone g GROUP BY g.fact_type

-- remove_chunks --
-- Removes the documents' chunks.
DELETE FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])

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

-- write_chunks --
-- New chunks of documents.
INSERT INTO chunks (tenant_id, bank_id, document_id, chunk_index, chunk_text, content_hash, extraction, extraction_key)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.document_id, n.chunk_index, n.text, n.content_hash, n.extraction, n.extraction_key
FROM jsonb_to_recordset(%(chunks)s::jsonb) AS n
    (document_id uuid, chunk_index integer, text text, content_hash text, extraction jsonb, extraction_key text)
ORDER BY n.document_id, n.chunk_index

-- write_revisions --
-- One line of history for each document that was retained.
INSERT INTO document_revisions (tenant_id, bank_id, document_id, revision_id, kind, operation_id, facts_added)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.document_id, n.revision_id, n.kind, %(operation_id)s::uuid, n.facts_added
FROM jsonb_to_recordset(%(revisions)s::jsonb) AS n (document_id uuid, revision_id uuid, kind text, facts_added integer)

-- page --
-- Documents that pass the filters, last updated first, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT d.document_id, d.external_id, d.content_hash, d.created_at, d.updated_at, d.text_length, d.retain_params, d.tags,
           strpos(lower(d.external_id), lower(%(text)s::text)) > 0 AS is_in_id,
           strpos(lower(coalesce(d.original_text, '')), lower(%(text)s::text)) > 0 AS is_in_text
    FROM documents AS d
    WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND NOT d.is_pending
      AND (%(any_of)s::text[] IS NULL OR d.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(d.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
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
        WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND f.document_id = d.document_id
    ) AS c
) AS facts_by_type
FROM documents AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = %(external_id)s::text
  AND NOT d.is_pending
  AND (%(any_of)s::text[] IS NULL OR d.tags && %(any_of)s::text[])
  AND (%(predicate)s::jsonpath IS NULL OR jsonb_path_match(to_jsonb(d.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
