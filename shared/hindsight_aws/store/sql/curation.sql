-- look --
-- A memory as whoever corrects it must know it, valid or archived; of a fact the scopes it is consolidated in as well.
SELECT u.id, u.fact_type, u.state, u.version, u.document_id, u.text, u.context, u.occurred_start, u.occurred_end, u.mentioned_at, u.tags,
       u.observation_scopes,
       ARRAY(
           SELECT e.canonical_name FROM entities e
           WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.kind = 'regular'
             AND (e.entity_id = ANY (u.entity_ids) OR EXISTS (
                 SELECT FROM unit_entities l
                 WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = u.id AND l.entity_id = e.entity_id))
           ORDER BY e.canonical_name
       ) AS names,
       ARRAY(
           SELECT e.canonical_name FROM entities e
           WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.kind = 'label'
             AND (e.entity_id = ANY (u.entity_ids) OR EXISTS (
                 SELECT FROM unit_entities l
                 WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = u.id AND l.entity_id = e.entity_id))
           ORDER BY e.canonical_name
       ) AS labels
FROM (
    SELECT v.id, v.fact_type, 'valid' AS state, v.version, v.document_id, v.text, v.context, v.occurred_start, v.occurred_end,
           v.mentioned_at, v.tags, v.observation_scopes, NULL::uuid[] AS entity_ids
    FROM memory_units v
    WHERE v.tenant_id = %(tenant_id)s AND v.bank_id = %(bank_id)s::uuid AND v.id = %(id)s::uuid
    UNION ALL
    SELECT i.id, i.fact_type, 'invalidated', i.version, i.document_id, i.text, i.context, i.occurred_start, i.occurred_end,
           i.mentioned_at, i.tags, i.observation_scopes, i.entity_ids
    FROM invalidated_memory_units i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(id)s::uuid
) AS u

-- lock_document --
-- Keeps a document from change: documents come before facts in the global lock order.
SELECT d.document_id FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = %(document_id)s::uuid
FOR NO KEY UPDATE

-- lock_fact --
-- Keeps a fact from change, if it is the version that is known.
SELECT u.id, u.fact_type, u.terms FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = %(id)s::uuid
  AND u.version = %(version)s::bigint AND u.fact_type IN ('world', 'experience')
FOR UPDATE

-- lock_archived --
-- Keeps an archived fact from change, if it is the version that is known.
SELECT i.id FROM invalidated_memory_units i
WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(id)s::uuid AND i.version = %(version)s::bigint
FOR UPDATE

-- lock_entities --
-- Keeps the entities that a fact names, and those it is to name, from change, in order of their names.
SELECT e.entity_id FROM entities e
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
  AND (e.name_key = ANY (%(name_keys)s::text[]) OR e.entity_id IN (
      SELECT l.entity_id FROM unit_entities l
      WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = %(id)s::uuid))
ORDER BY e.name_key
FOR NO KEY UPDATE

-- uncount_mentions --
-- Takes a fact's mentions off its entities.
UPDATE entities e SET mention_count = greatest(e.mention_count - 1, 0)
FROM unit_entities l
WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = %(id)s::uuid
  AND e.tenant_id = l.tenant_id AND e.bank_id = l.bank_id AND e.entity_id = l.entity_id

-- uncount_pairs --
-- Takes a fact off the pairs of entities that it names together; pairs that no fact is left of go.
WITH named AS MATERIALIZED (
    SELECT l.entity_id FROM unit_entities l
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = %(id)s::uuid
), locked AS MATERIALIZED (
    SELECT o.entity_id_1, o.entity_id_2, o.cooccurrences
    FROM entity_cooccurrences o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
      AND o.entity_id_1 IN (SELECT entity_id FROM named) AND o.entity_id_2 IN (SELECT entity_id FROM named)
    ORDER BY o.entity_id_1, o.entity_id_2
    FOR UPDATE
), ended AS (
    DELETE FROM entity_cooccurrences o USING locked h
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
      AND o.entity_id_1 = h.entity_id_1 AND o.entity_id_2 = h.entity_id_2 AND h.cooccurrences <= 1
)
UPDATE entity_cooccurrences o SET cooccurrences = h.cooccurrences - 1
FROM locked h
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
  AND o.entity_id_1 = h.entity_id_1 AND o.entity_id_2 = h.entity_id_2 AND h.cooccurrences > 1

-- detach_entities --
-- Takes a fact's entities off it.
DELETE FROM unit_entities l WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = %(id)s::uuid

-- unsay_former_words --
-- Pages that rest on what a fact said rest on something that is gone, if it is to say something else.
UPDATE mental_model_citations c SET memory_id = NULL
FROM (SELECT k.page_id, k.version, k.cited_id FROM mental_model_citations k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.memory_id = %(id)s::uuid
        AND EXISTS (SELECT FROM memory_units u
                    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = %(id)s::uuid
                      AND (u.text, u.context, u.occurred_start, u.occurred_end, u.mentioned_at) IS DISTINCT FROM
                          (%(text)s::text, %(context)s::text, %(occurred_start)s::timestamptz, %(occurred_end)s::timestamptz,
                           %(mentioned_at)s::timestamptz))
      ORDER BY k.cited_id, k.page_id, k.version FOR NO KEY UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = locked.page_id AND c.version = locked.version
  AND c.cited_id = locked.cited_id

-- rewrite --
-- A fact as somebody corrected it.
UPDATE memory_units u
SET fact_type = %(fact_type)s::text, text = %(text)s::text, context = %(context)s::text, embedding = %(embedding)s::halfvec(512),
    embedding_model = %(embedding_model)s::text, occurred_start = %(occurred_start)s::timestamptz,
    occurred_end = %(occurred_end)s::timestamptz, mentioned_at = %(mentioned_at)s::timestamptz,
    event_date = coalesce(%(occurred_start)s::timestamptz, %(mentioned_at)s::timestamptz), terms = %(length)s::integer,
    version = u.version + 1, edited_at = now(), updated_at = now()
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = %(id)s::uuid

-- reopen_work --
-- A fact whose work is locked pending again in all its scopes; says in which.
UPDATE consolidation_work w
SET {{clean_slate}}, due_at = now()
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.fact_id = %(id)s::uuid AND w.scope_id IS NOT NULL
RETURNING w.scope_id

-- resting --
-- The observations that rest on a fact.
SELECT e.observation_id
FROM observation_evidence e
JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id AND o.fact_type = 'observation'
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.fact_id = %(id)s::uuid
ORDER BY e.observation_id

-- archive --
-- Copies a fact that is about to go into the archive: with its entities, its causes and effects, and those parked with archived peers.
INSERT INTO invalidated_memory_units
    (tenant_id, bank_id, id, fact_type, document_id, chunk_index, ordinal, text, context, event_date, occurred_start, occurred_end,
     mentioned_at, metadata, tags, observation_scopes, version, edited_at, created_at, updated_at, embedding, embedding_model, reason,
     entity_ids, causal_links)
SELECT u.tenant_id, u.bank_id, u.id, u.fact_type, u.document_id, u.chunk_index, u.ordinal, u.text, u.context, u.event_date,
       u.occurred_start, u.occurred_end, u.mentioned_at, u.metadata, u.tags, u.observation_scopes, u.version + 1, u.edited_at,
       u.created_at, u.updated_at, {{u_vector}},
       CASE WHEN {{u_is_in_place}} THEN u.embedding_model ELSE (
           SELECT b.embedding_model FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid) END,
       %(reason)s::text,
       ARRAY(SELECT l.entity_id FROM unit_entities l
             WHERE l.tenant_id = u.tenant_id AND l.bank_id = u.bank_id AND l.unit_id = u.id ORDER BY l.entity_id),
       coalesce((
           SELECT jsonb_agg(DISTINCT edge.link) FROM (
               SELECT jsonb_build_object('from', k.from_unit, 'to', k.to_unit, 'type', k.link_type, 'weight', k.weight) AS link
               FROM memory_links k
               WHERE k.tenant_id = u.tenant_id AND k.bank_id = u.bank_id AND k.from_unit = u.id
                 AND k.link_type NOT IN ('temporal', 'semantic')
               UNION ALL
               SELECT jsonb_build_object('from', k.from_unit, 'to', k.to_unit, 'type', k.link_type, 'weight', k.weight)
               FROM memory_links k
               WHERE k.tenant_id = u.tenant_id AND k.bank_id = u.bank_id AND k.to_unit = u.id
                 AND k.link_type NOT IN ('temporal', 'semantic')
               UNION ALL
               SELECT p.link
               FROM invalidated_memory_units peer CROSS JOIN LATERAL jsonb_array_elements(peer.causal_links) AS p (link)
               WHERE peer.tenant_id = u.tenant_id AND peer.bank_id = u.bank_id AND peer.causal_links <> '[]'
                 AND (p.link ->> 'from' = u.id::text OR p.link ->> 'to' = u.id::text)
           ) AS edge
       ), '[]')
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = %(id)s::uuid

-- give_reason --
-- Another reason why a fact is archived.
UPDATE invalidated_memory_units i SET reason = %(reason)s::text
WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(id)s::uuid

-- restore --
-- Puts an archived fact back, as a version of its own; says of what type it is, and what edges were parked with it.
WITH gone AS (
    DELETE FROM invalidated_memory_units i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(id)s::uuid
    RETURNING i.*
), back AS (
    INSERT INTO memory_units
        (tenant_id, bank_id, id, fact_type, document_id, chunk_index, ordinal, text, context, embedding, embedding_model, event_date,
         occurred_start, occurred_end, mentioned_at, metadata, tags, observation_scopes, version, terms, edited_at, created_at, updated_at)
    SELECT g.tenant_id, g.bank_id, g.id, g.fact_type, g.document_id, g.chunk_index, g.ordinal, g.text, g.context,
           %(embedding)s::halfvec(512), %(embedding_model)s::text, g.event_date, g.occurred_start, g.occurred_end, g.mentioned_at,
           g.metadata, g.tags, g.observation_scopes, g.version + 1, %(length)s::integer, g.edited_at, g.created_at, now()
    FROM gone g
)
SELECT g.fact_type, g.tags, g.causal_links FROM gone g

-- join_causes --
-- Brings edges back whose both ends are live.
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT %(tenant_id)s, %(bank_id)s::uuid, (k.link ->> 'from')::uuid, (k.link ->> 'to')::uuid, k.link ->> 'type', (k.link ->> 'weight')::real
FROM jsonb_array_elements(%(links)s::jsonb) AS k (link)
JOIN memory_units f ON f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND f.id = (k.link ->> 'from')::uuid
JOIN memory_units t ON t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid AND t.id = (k.link ->> 'to')::uuid
ORDER BY 3, 4, 5
ON CONFLICT DO NOTHING

-- park_causes --
-- Leaves edges with the archived peer that each of them waits for.
UPDATE invalidated_memory_units i
SET causal_links = (
    SELECT jsonb_agg(DISTINCT e.link)
    FROM (
        SELECT held.link FROM jsonb_array_elements(i.causal_links) AS held (link)
        UNION ALL
        SELECT k.link FROM jsonb_array_elements(%(links)s::jsonb) AS k (link) WHERE i.id::text IN (k.link ->> 'from', k.link ->> 'to')
    ) AS e)
WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid
  AND i.id IN (SELECT (k.link ->> 'from')::uuid FROM jsonb_array_elements(%(links)s::jsonb) AS k (link)
               UNION SELECT (k.link ->> 'to')::uuid FROM jsonb_array_elements(%(links)s::jsonb) AS k (link))

-- facts --
-- The next facts of these types, with their documents.
SELECT u.id, u.document_id
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
  AND u.fact_type IN ('world', 'experience')
ORDER BY u.fact_type, u.id
LIMIT %(at_most)s::integer

-- clear_archive --
-- Empties the archive of these types; says of which documents the facts were.
WITH gone AS (
    DELETE FROM invalidated_memory_units i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.fact_type = ANY (%(fact_types)s::text[])
    RETURNING i.document_id
)
SELECT DISTINCT g.document_id FROM gone g WHERE g.document_id IS NOT NULL

-- forget_bodies --
-- Makes documents look as if their text had never been read: the same text, retained again, makes facts again.
UPDATE documents d SET content_hash = NULL, version = d.version + 1
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = ANY (%(document_ids)s::uuid[])

-- forget_extractions --
-- Takes what was once read in the chunks of documents out, and what they are known by.
UPDATE chunks c SET content_hash = '', fingerprint = '', extraction = NULL, extraction_key = NULL
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.document_id = ANY (%(document_ids)s::uuid[])

-- forget_reading --
-- Takes what was once read in the chunk of a fact, valid or archived, out of it; the chunk stays known, and counts as read.
UPDATE chunks c SET extraction = NULL, extraction_key = NULL
FROM (
    SELECT u.document_id, u.chunk_index FROM memory_units u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = %(id)s::uuid
    UNION ALL
    SELECT i.document_id, i.chunk_index FROM invalidated_memory_units i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(id)s::uuid
) AS origin
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid
  AND c.document_id = origin.document_id AND c.chunk_index = origin.chunk_index

-- delete_archived --
-- Takes a fact out of the archive for good.
DELETE FROM invalidated_memory_units i
WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = %(id)s::uuid

-- lock_observations --
-- The next observations of the bank, or of one scope, kept from change in id order.
SELECT o.id FROM memory_units o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.fact_type = 'observation'
  AND (%(scope_id)s::uuid IS NULL OR o.scope_id = %(scope_id)s::uuid)
ORDER BY o.id
LIMIT %(at_most)s::integer
FOR UPDATE

-- bury_observations --
-- A last line in the history of observations that end; it says that they were, and nothing they said.
INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, tags, blanked_at)
SELECT o.tenant_id, o.bank_id, gen_random_uuid(), o.id, o.scope_id, 'delete', o.tags, now()
FROM memory_units o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.id = ANY (%(ids)s::uuid[])
ORDER BY o.id

-- blank_histories --
-- Takes the text and the quotes out of every revision of these observations; ids and times stay.
UPDATE observation_revisions r
SET text = NULL, embedding = NULL, embedding_model = NULL, blanked_at = now(),
    evidence = (SELECT coalesce(jsonb_agg(jsonb_build_object('fact_id', piece ->> 'fact_id', 'origin', piece ->> 'origin')), '[]')
                FROM jsonb_array_elements(r.evidence) AS piece)
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.observation_id = ANY (%(ids)s::uuid[]) AND r.blanked_at IS NULL

-- reopen_sources --
-- The facts behind these observations, pending again in their scopes.
UPDATE consolidation_work w
SET {{clean_slate}}, due_at = now()
FROM (
    SELECT k.work_id FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND (k.fact_id, k.scope_id) IN (
        SELECT e.fact_id, o.scope_id
        FROM observation_evidence e
        JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id
        WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.observation_id = ANY (%(ids)s::uuid[]))
    ORDER BY k.work_id
    FOR UPDATE
) AS locked
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = locked.work_id

-- end_observations --
-- Removes observations; says how many went, with how many terms.
WITH gone AS (
    DELETE FROM memory_units o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.id = ANY (%(ids)s::uuid[]) AND o.fact_type = 'observation'
    RETURNING o.terms
)
SELECT count(*) AS units, coalesce(sum(g.terms), 0)::bigint AS terms FROM gone g

-- clear_seals --
-- Deletes what the bank, or one of its scopes, keeps sealed of former generations: what is cleared is gone from there too.
DELETE FROM sealed_generations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND (%(scope_id)s::uuid IS NULL OR scope_id = %(scope_id)s::uuid)

-- reopen_all --
-- Every fact of the bank pending again in all its scopes, or in one of them, failed ones too; says in which scopes.
WITH locked AS MATERIALIZED (
    SELECT k.work_id FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_id IS NOT NULL AND k.state <> 'pending'
      AND (%(scope_id)s::uuid IS NULL OR k.scope_id = %(scope_id)s::uuid)
      AND NOT k.is_rebuild
    ORDER BY k.work_id
    FOR UPDATE
), reopened AS (
    UPDATE consolidation_work w
    SET {{clean_slate}}, due_at = now()
    FROM locked h
    WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id
    RETURNING w.scope_id
)
SELECT DISTINCT r.scope_id FROM reopened r
