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

-- add_causes --
-- Links from new facts to the facts that caused them.
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT %(tenant_id)s, %(bank_id)s::uuid, l.effect, l.cause, 'caused_by', 1
FROM unnest(%(effects)s::uuid[], %(causes)s::uuid[]) AS l (effect, cause)
WHERE l.effect <> l.cause
ORDER BY l.effect, l.cause
ON CONFLICT DO NOTHING

-- link_exactly --
-- Links new facts to the nearest of their type among all there are; OFFSET 0 keeps the vector index out of it.
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.id, near.id, 'semantic', least(greatest(1 - near.distance, 0), 1)
FROM memory_units n
CROSS JOIN LATERAL (
    SELECT c.id, c.distance
    FROM (SELECT m.id, m.embedding <=> n.embedding AS distance
          FROM memory_units m
          WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.fact_type = n.fact_type
          OFFSET 0) AS c
    WHERE c.id <> n.id AND c.distance <= %(farthest)s::double precision
    ORDER BY c.distance, c.id LIMIT %(most)s::integer) AS near
WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.id = ANY (%(ids)s::uuid[]) AND n.embedding IS NOT NULL
ORDER BY n.id, near.id
ON CONFLICT DO NOTHING

-- search_by_index --
-- Lets the vector index look further until enough rows of the bank are found, within this transaction.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', %(tuples)s::text, true)

-- link_worlds_by_index --
-- Links new world facts to near ones, as the vector index proposes them.
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.id, near.id, 'semantic', least(greatest(1 - near.distance, 0), 1)
FROM unnest(%(ids)s::uuid[], %(embeddings)b::halfvec[]) AS n (id, embedding)
CROSS JOIN LATERAL (
    SELECT c.id, c.distance
    FROM (SELECT m.id, m.embedding <=> n.embedding AS distance
          FROM memory_units m
          WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.fact_type = 'world'
          ORDER BY m.embedding <=> n.embedding LIMIT %(most)s::integer + 1) AS c
    WHERE c.id <> n.id AND c.distance <= %(farthest)s::double precision
    LIMIT %(most)s::integer) AS near
ORDER BY n.id, near.id
ON CONFLICT DO NOTHING

-- link_experiences_by_index --
-- Links new experiences to near ones, as the vector index proposes them.
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.id, near.id, 'semantic', least(greatest(1 - near.distance, 0), 1)
FROM unnest(%(ids)s::uuid[], %(embeddings)b::halfvec[]) AS n (id, embedding)
CROSS JOIN LATERAL (
    SELECT c.id, c.distance
    FROM (SELECT m.id, m.embedding <=> n.embedding AS distance
          FROM memory_units m
          WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.fact_type = 'experience'
          ORDER BY m.embedding <=> n.embedding LIMIT %(most)s::integer + 1) AS c
    WHERE c.id <> n.id AND c.distance <= %(farthest)s::double precision
    LIMIT %(most)s::integer) AS near
ORDER BY n.id, near.id
ON CONFLICT DO NOTHING

-- touch_bank --
-- Notes the write and, on the first vector, the model; no row comes back when the vectors are another model's.
UPDATE banks SET last_write_at = now(), embedding_model = coalesce(embedding_model, %(embedding_model)s::text)
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
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
               v.created_at, v.updated_at
        FROM memory_units AS v
        WHERE v.tenant_id = %(tenant_id)s AND v.bank_id = %(bank_id)s::uuid AND %(state)s::text = 'valid'
        UNION ALL
        SELECT i.id, i.fact_type, i.text, i.context, i.tags, i.document_id, i.mentioned_at, i.occurred_start, i.occurred_end,
               i.created_at, i.updated_at
        FROM invalidated_memory_units AS i
        WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND %(state)s::text = 'invalidated'
    ) AS u
    WHERE u.fact_type = ANY (%(fact_types)s::text[])
      AND (%(any_of)s::text[] IS NULL OR u.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(u.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
      AND (%(text)s::text IS NULL OR strpos(lower(u.text), lower(%(text)s::text)) > 0
           OR strpos(lower(coalesce(u.context, '')), lower(%(text)s::text)) > 0)
      AND (%(document)s::text IS NULL OR u.document_id = (
              SELECT d.document_id FROM documents AS d
              WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = %(document)s::text))
      AND (%(entity)s::uuid IS NULL OR EXISTS (
              SELECT FROM unit_entities AS e
              WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
                AND e.entity_id = %(entity)s::uuid AND e.unit_id = u.id))
      AND (%(consolidation)s::text IS NULL OR u.fact_type <> 'observation' AND %(consolidation)s::text = (
              SELECT CASE WHEN bool_or(w.state = 'failed') THEN 'failed' WHEN bool_or(w.state = 'pending') THEN 'pending'
                          WHEN count(*) > 0 THEN 'done' END
              FROM consolidation_work AS w
              WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.fact_id = u.id))
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
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.fact_id = u.id
) AS w
ORDER BY array_position(%(ids)s::uuid[], u.id)

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
  AND (%(any_of)s::text[] IS NULL OR u.tags && %(any_of)s::text[])
  AND (%(predicate)s::jsonpath IS NULL OR jsonb_path_match(to_jsonb(u.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))

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
