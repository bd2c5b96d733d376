-- count --
-- How many live facts a bank holds.
SELECT coalesce(sum(units), 0)::bigint AS units
FROM bank_counters WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND fact_type <> 'observation'

-- add --
-- New facts, in order of their ids; the vectors stand in the same order as the facts.
INSERT INTO memory_units
    (tenant_id, bank_id, id, fact_type, document_id, chunk_index, ordinal, text, context, embedding, embedding_model, event_date,
     occurred_start, occurred_end, mentioned_at, metadata, tags, observation_scopes, terms)
SELECT %(tenant_id)s, %(bank_id)s::uuid, f.id, f.fact_type, f.document_id, f.chunk_index, f.ordinal, f.text, f.context, f.embedding,
       %(embedding_model)s::text, coalesce(f.occurred_start, f.mentioned_at), f.occurred_start, f.occurred_end, f.mentioned_at,
       f.metadata, f.tags, f.observation_scopes, f.terms
FROM ROWS FROM (
    jsonb_to_recordset(%(facts)s::jsonb) AS
        (id uuid, fact_type text, document_id uuid, chunk_index integer, ordinal integer, text text, context text,
         occurred_start timestamptz, occurred_end timestamptz, mentioned_at timestamptz, metadata jsonb, tags text[],
         observation_scopes jsonb, terms integer),
    unnest(%(embeddings)b::halfvec[])
) AS f (id, fact_type, document_id, chunk_index, ordinal, text, context, occurred_start, occurred_end, mentioned_at, metadata, tags,
        observation_scopes, terms, embedding)

-- lock_documents_of --
-- Keeps the documents of these facts from change, in id order, before the facts: who rests observations on them waits, or is done.
SELECT d.document_id
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid
  AND d.document_id IN (SELECT u.document_id FROM memory_units u
                        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(fact_ids)s::uuid[]))
ORDER BY d.document_id
FOR NO KEY UPDATE

-- lock_leaving --
-- Facts that are about to go, kept from change in id order; observations are not among them.
SELECT u.id
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(fact_ids)s::uuid[])
  AND u.fact_type IN ('world', 'experience')
ORDER BY u.id
FOR UPDATE

-- lock_entities_of --
-- The entities that facts name, kept from change in order of their names, as they are when facts come.
SELECT e.entity_id
FROM entities e
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
  AND e.entity_id IN (SELECT l.entity_id FROM unit_entities l
                      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = ANY (%(fact_ids)s::uuid[]))
ORDER BY e.name_key
FOR NO KEY UPDATE

-- uncount_mentions --
-- Takes the mentions by facts that are about to go off their entities.
UPDATE entities AS e SET mention_count = greatest(e.mention_count - gone.mentions, 0)
FROM (SELECT l.entity_id, count(*)::integer AS mentions
      FROM unit_entities l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = ANY (%(fact_ids)s::uuid[])
      GROUP BY l.entity_id) AS gone
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.entity_id = gone.entity_id

-- remove --
-- Removes facts with all that hangs on them; says how many went, with how many terms, by type.
WITH gone AS (
    DELETE FROM memory_units u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(fact_ids)s::uuid[])
    RETURNING u.fact_type, u.terms
)
SELECT g.fact_type, count(*) AS units, sum(g.terms)::bigint AS terms FROM gone g GROUP BY g.fact_type

-- labelled --
-- Facts of a document's chunks with their labels, kept from change in id order, and the names of label entities they bear.
SELECT u.id, u.chunk_index, u.tags, u.metadata, u.observation_scopes, ARRAY(
    SELECT e.canonical_name
    FROM unit_entities l
    JOIN entities e ON e.tenant_id = l.tenant_id AND e.bank_id = l.bank_id AND e.entity_id = l.entity_id
    WHERE l.tenant_id = u.tenant_id AND l.bank_id = u.bank_id AND l.unit_id = u.id AND e.kind = 'label'
) AS labels
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = %(document_id)s::uuid
  AND u.chunk_index = ANY (%(chunk_indexes)s::integer[])
ORDER BY u.id
FOR NO KEY UPDATE OF u

-- labelled_archived --
-- Invalidated facts of a document's chunks with their labels.
SELECT u.id, u.chunk_index, u.tags, u.metadata, u.observation_scopes, ARRAY(
    SELECT e.canonical_name FROM entities e
    WHERE e.tenant_id = u.tenant_id AND e.bank_id = u.bank_id AND e.entity_id = ANY (u.entity_ids) AND e.kind = 'label'
) AS labels
FROM invalidated_memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = %(document_id)s::uuid
  AND u.chunk_index = ANY (%(chunk_indexes)s::integer[])
ORDER BY u.id
FOR NO KEY UPDATE OF u

-- relabel --
-- New labels for facts that the caller has locked; those that were invalidated are not among them.
UPDATE memory_units AS u
SET tags = n.tags, metadata = n.metadata, observation_scopes = n.observation_scopes, version = u.version + 1, updated_at = now()
FROM jsonb_to_recordset(%(labels)s::jsonb) AS n (id uuid, tags text[], metadata jsonb, observation_scopes jsonb)
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = n.id
RETURNING u.id

-- relabel_archived --
-- New labels for invalidated facts that the caller has locked.
UPDATE invalidated_memory_units AS u
SET tags = n.tags, metadata = n.metadata, observation_scopes = n.observation_scopes, version = u.version + 1, updated_at = now()
FROM jsonb_to_recordset(%(labels)s::jsonb) AS n (id uuid, tags text[], metadata jsonb, observation_scopes jsonb)
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = n.id

-- touch_bank --
-- Notes the write and, on the first vector, the model; no row comes back when the vectors are another model's.
UPDATE banks SET last_write_at = now(), embedding_model = coalesce(embedding_model, %(embedding_model)s::text)
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND erased_at IS NULL
  AND (embedding_model IS NULL OR %(embedding_model)s::text IS NULL OR embedding_model = %(embedding_model)s::text)
RETURNING bank_id

-- page --
-- How many memories pass the filters, and the ids of one page of them in order.
WITH matching AS MATERIALIZED (
    SELECT u.id, u.mentioned_at, u.created_at,
           CASE %(axis)s::text WHEN 'created_at' THEN u.created_at WHEN 'updated_at' THEN u.updated_at
                WHEN 'mentioned_at' THEN u.mentioned_at WHEN 'occurred_start' THEN u.occurred_start
                WHEN 'occurred_end' THEN u.occurred_end END AS axis
    FROM (
        SELECT v.id, v.fact_type, v.text, v.context, v.tags, v.document_id, v.mentioned_at, v.occurred_start, v.occurred_end,
               v.created_at, v.updated_at, v.created_by, v.last_by, NULL::uuid[] AS entity_ids
        FROM memory_units AS v
        WHERE v.tenant_id = %(tenant_id)s AND v.bank_id = %(bank_id)s::uuid AND %(state)s::text = 'valid'
        UNION ALL
        SELECT i.id, i.fact_type, i.text, i.context, i.tags, i.document_id, i.mentioned_at, i.occurred_start, i.occurred_end,
               i.created_at, i.updated_at, NULL, NULL, i.entity_ids
        FROM invalidated_memory_units AS i
        WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND %(state)s::text = 'invalidated'
    ) AS u
    WHERE u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
      AND (%(text)s::text IS NULL OR strpos(lower(u.text), lower(%(text)s::text)) > 0
           OR strpos(lower(coalesce(u.context, '')), lower(%(text)s::text)) > 0)
      AND (%(document)s::text IS NULL OR u.document_id = (
              SELECT d.document_id FROM documents AS d
              WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = %(document)s::text))
      AND (%(entity)s::uuid IS NULL OR %(entity)s::uuid = ANY (u.entity_ids) OR EXISTS (
              SELECT FROM unit_entities AS e
              WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
                AND e.entity_id = %(entity)s::uuid AND e.unit_id = u.id))
      AND (%(written_by)s::jsonb IS NULL OR u.created_by @> %(written_by)s::jsonb OR u.last_by @> %(written_by)s::jsonb)
      AND (%(consolidation)s::text IS NULL OR u.fact_type <> 'observation' AND %(consolidation)s::text = (
              SELECT CASE WHEN bool_or(w.state = 'failed') THEN 'failed' WHEN bool_or(w.state = 'pending') THEN 'pending'
                          WHEN count(*) > 0 THEN 'done' END
              FROM consolidation_work AS w
              WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.fact_id = u.id AND NOT w.is_rebuild))
), windowed AS MATERIALIZED (
    SELECT m.id, m.mentioned_at, m.created_at, m.axis
    FROM matching AS m
    WHERE %(axis)s::text IS NULL
       OR m.axis IS NOT NULL AND (%(start)s::timestamptz IS NULL OR m.axis >= %(start)s::timestamptz)
          AND (%(end)s::timestamptz IS NULL OR m.axis < %(end)s::timestamptz)
)
SELECT (SELECT count(*) FROM windowed) AS total, ARRAY(
    SELECT w.id FROM windowed AS w
    ORDER BY w.axis DESC, CASE WHEN %(axis)s::text IS NULL THEN w.mentioned_at END DESC NULLS LAST,
             CASE WHEN %(axis)s::text IS NULL THEN w.created_at END DESC, w.id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS ids

-- views --
-- Memories, valid or invalidated, with all that is shown of each; `sources` says whether the ids of their sources may be.
WITH units AS (
    SELECT v.id, v.fact_type, v.text, v.context, v.event_date, v.mentioned_at, v.occurred_start, v.occurred_end, v.document_id,
           v.chunk_index, v.proof_count, v.tags, v.metadata, v.observation_scopes, 'valid' AS state, NULL::text AS reason,
           NULL::timestamptz AS invalidated_at, v.edited_at, v.updated_at, v.created_by, v.last_by, NULL::uuid[] AS entity_ids
    FROM memory_units AS v
    WHERE v.tenant_id = %(tenant_id)s AND v.bank_id = %(bank_id)s::uuid AND v.id = ANY (%(ids)s::uuid[])
    UNION ALL
    SELECT i.id, i.fact_type, i.text, i.context, i.event_date, i.mentioned_at, i.occurred_start, i.occurred_end, i.document_id,
           i.chunk_index, 1, i.tags, i.metadata, i.observation_scopes, 'invalidated', i.reason,
           i.invalidated_at, i.edited_at, i.updated_at, NULL, NULL, i.entity_ids
    FROM invalidated_memory_units AS i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = ANY (%(ids)s::uuid[])
)
SELECT u.*, d.external_id AS document, w.consolidated_at, w.consolidation_failed_at,
       ARRAY(
           SELECT n.canonical_name FROM entities AS n
           WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND (n.entity_id = ANY (u.entity_ids) OR EXISTS (
               SELECT FROM unit_entities AS e
               WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.unit_id = u.id
                 AND e.entity_id = n.entity_id))
           ORDER BY n.canonical_name
       ) AS entities,
       ARRAY(
           SELECT o.fact_id
           FROM observation_evidence AS o
           JOIN memory_units AS f ON f.tenant_id = o.tenant_id AND f.bank_id = o.bank_id AND f.id = o.fact_id
           WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.observation_id = u.id
             AND %(sources)s::boolean AND f.fact_type = ANY (%(fact_types)s::text[])
             AND (%(any_of)s::text[] IS NULL OR f.tags && %(any_of)s::text[])
             AND (%(predicate)s::jsonpath IS NULL
                  OR jsonb_path_match(to_jsonb(f.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
           ORDER BY o.created_at, o.fact_id
       ) AS source_ids
FROM units AS u
LEFT JOIN documents AS d
  ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = u.document_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN NOT bool_or(k.state = 'pending') THEN max(k.done_at) END AS consolidated_at,
           max(k.failed_at) FILTER (WHERE k.state = 'failed') AS consolidation_failed_at
    FROM consolidation_work AS k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.fact_id = u.id AND NOT k.is_rebuild
) AS w
ORDER BY array_position(%(ids)s::uuid[], u.id)

-- scope_states --
-- How a fact stands in each of its scopes that pass the filter; one that belongs to none has a row that says so.
SELECT s.tags, w.state, w.outcome, w.error
FROM consolidation_work AS w
LEFT JOIN scopes AS s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.fact_id = %(memory_id)s::uuid AND NOT w.is_rebuild
  AND (w.scope_id IS NULL
       OR (%(any_of)s::text[] IS NULL OR s.tags && %(any_of)s::text[])
          AND (%(predicate)s::jsonpath IS NULL
               OR jsonb_path_match(to_jsonb(s.tags), %(predicate)s::jsonpath, %(variables)s::jsonb)))
ORDER BY s.tags COLLATE "C"

-- sees --
-- Whether a memory, valid or invalidated, passes the filters.
SELECT u.id
FROM (
    SELECT v.id, v.fact_type, v.tags FROM memory_units AS v
    WHERE v.tenant_id = %(tenant_id)s AND v.bank_id = %(bank_id)s::uuid AND v.id = %(memory_id)s::uuid
    UNION ALL
    SELECT i.id, i.fact_type, i.tags FROM invalidated_memory_units AS i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(memory_id)s::uuid
) AS u
WHERE u.fact_type = ANY (%(fact_types)s::text[])
  AND {{u_tags_pass}}

-- evidence --
-- What an observation rests on: every piece is counted, those whose fact passes the filters are shown.
SELECT o.fact_id, o.quote, o.origin, f.text, f.fact_type, f.context, f.occurred_start, f.mentioned_at,
       %(sources)s::boolean AND f.fact_type = ANY (%(fact_types)s::text[])
         AND (%(any_of)s::text[] IS NULL OR f.tags && %(any_of)s::text[])
         AND (%(predicate)s::jsonpath IS NULL
              OR jsonb_path_match(to_jsonb(f.tags), %(predicate)s::jsonpath, %(variables)s::jsonb)) AS is_seen
FROM observation_evidence AS o
JOIN memory_units AS f ON f.tenant_id = o.tenant_id AND f.bank_id = o.bank_id AND f.id = o.fact_id
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.observation_id = %(memory_id)s::uuid
ORDER BY o.created_at, o.fact_id
