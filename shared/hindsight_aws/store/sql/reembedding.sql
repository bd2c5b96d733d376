-- lock_shared --
-- Keeps a bank's vectors those of the model they are of until the transaction ends, unless they are being replaced.
SELECT pg_try_advisory_xact_lock_shared(hashtextextended(concat_ws('/', 'vectors', %(tenant_id)s::text, %(bank_id)s::text), 0)) AS is_locked

-- lock_alone --
-- Keeps everybody else from writing vectors of a bank until the transaction ends; taken before any row.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', 'vectors', %(tenant_id)s::text, %(bank_id)s::text), 0))::text AS alone

-- vectors_of --
-- What model a bank's vectors are of, and until when nobody writes any, if that is so now.
SELECT embedding_model, CASE WHEN vectors_closed_until > clock_timestamp() THEN vectors_closed_until END AS closed_until,
       clock_timestamp() AS at
FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- going_on --
-- The re-embedding of a bank that has not ended, one that is named left out, and its model; the oldest, should there be several.
SELECT operation_id, payload ->> 'model' AS model FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND kind = 'reembed' AND status IN ('pending', 'processing')
  AND (%(but)s::uuid IS NULL OR operation_id <> %(but)s::uuid)
ORDER BY created_at, operation_id LIMIT 1

-- left_over --
-- How many of a bank's texts have a vector, and it is not this model's; of pages also those that were left without one.
SELECT (SELECT count(*) FROM memory_units u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.embedding_model IS DISTINCT FROM %(model)s::text)
     + (SELECT count(*) FROM invalidated_memory_units u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.embedding IS NOT NULL
          AND u.embedding_model IS DISTINCT FROM %(model)s::text)
     + (SELECT count(*) FROM observation_revisions u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.embedding IS NOT NULL
          AND u.embedding_model IS DISTINCT FROM %(model)s::text)
     + (SELECT count(*) FROM mental_models m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.content <> ''
          AND m.embedding_model IS DISTINCT FROM %(model)s::text) AS texts

-- pages_left --
-- How many of a bank's pages have no vector of this model.
SELECT count(*) AS pages FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.content <> '' AND m.embedding_model IS DISTINCT FROM %(model)s::text

-- made --
-- How many vectors an operation has made that are not in place.
SELECT count(*) AS vectors FROM reembedded_vectors r WHERE {{r_is_of}}

-- read_memory --
-- Facts and observations whose vectors the operation has not made, or made of what has changed since.
SELECT u.id, {{u_made_of}} AS made_of, u.fact_type IN ('world', 'experience') AS is_fact, u.text, u.occurred_start, u.occurred_end,
       u.mentioned_at, ARRAY(
           SELECT e.canonical_name FROM unit_entities n
           JOIN entities e ON e.tenant_id = n.tenant_id AND e.bank_id = n.bank_id AND e.entity_id = n.entity_id
           WHERE n.tenant_id = u.tenant_id AND n.bank_id = u.bank_id AND n.unit_id = u.id ORDER BY e.name_key) AS names
FROM memory_units u
LEFT JOIN reembedded_vectors r ON {{r_is_of}} AND r.kind = 'memory' AND r.item_id = u.id
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id > %(after)s::uuid AND u.id <= %(until)s::uuid
  AND u.embedding_model IS DISTINCT FROM %(model)s::text AND r.made_of IS DISTINCT FROM {{u_made_of}}
ORDER BY u.id LIMIT %(at_most)s::integer

-- read_archived --
-- The same of facts that are out of use.
SELECT u.id, {{u_made_of}} AS made_of, true AS is_fact, u.text, u.occurred_start, u.occurred_end, u.mentioned_at, ARRAY(
           SELECT e.canonical_name FROM entities e
           WHERE e.tenant_id = u.tenant_id AND e.bank_id = u.bank_id AND e.entity_id = ANY (u.entity_ids) ORDER BY e.name_key) AS names
FROM invalidated_memory_units u
LEFT JOIN reembedded_vectors r ON {{r_is_of}} AND r.kind = 'archived' AND r.item_id = u.id
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id > %(after)s::uuid AND u.id <= %(until)s::uuid
  AND u.embedding IS NOT NULL
  AND u.embedding_model IS DISTINCT FROM %(model)s::text AND r.made_of IS DISTINCT FROM {{u_made_of}}
ORDER BY u.id LIMIT %(at_most)s::integer

-- read_revision --
-- The same of former wordings of observations.
SELECT u.revision_id AS id, {{u_made_of}} AS made_of, false AS is_fact, u.text, NULL::timestamptz AS occurred_start,
       NULL::timestamptz AS occurred_end, NULL::timestamptz AS mentioned_at, '{}'::text[] AS names
FROM observation_revisions u
LEFT JOIN reembedded_vectors r ON {{r_is_of}} AND r.kind = 'revision' AND r.item_id = u.revision_id
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.revision_id > %(after)s::uuid
  AND u.revision_id <= %(until)s::uuid AND u.embedding IS NOT NULL
  AND u.text IS NOT NULL AND u.embedding_model IS DISTINCT FROM %(model)s::text AND r.made_of IS DISTINCT FROM {{u_made_of}}
ORDER BY u.revision_id LIMIT %(at_most)s::integer

-- read_page --
-- The same of mental models, whose name is embedded with what they say; those that were left without a vector get one.
SELECT m.page_id AS id, {{m_made_of}} AS made_of, false AS is_fact, m.name || E'\n\n' || m.content AS text,
       NULL::timestamptz AS occurred_start, NULL::timestamptz AS occurred_end, NULL::timestamptz AS mentioned_at, '{}'::text[] AS names
FROM mental_models m
LEFT JOIN reembedded_vectors r ON {{r_is_of}} AND r.kind = 'page' AND r.item_id = m.page_id
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id > %(after)s::uuid
  AND m.page_id <= %(until)s::uuid AND m.content <> '' AND m.embedding_model IS DISTINCT FROM %(model)s::text AND r.made_of IS DISTINCT FROM {{m_made_of}}
ORDER BY m.page_id LIMIT %(at_most)s::integer

-- keep --
-- Keeps vectors beside those that serve, in order; of what went meanwhile none.
INSERT INTO reembedded_vectors AS r (tenant_id, bank_id, operation_id, kind, item_id, made_of, embedding)
SELECT %(tenant_id)s, %(bank_id)s::uuid, %(operation_id)s::uuid, %(kind)s::text, n.id, n.made_of, n.embedding
FROM ROWS FROM (unnest(%(ids)s::uuid[]), unnest(%(made_of)s::text[]), unnest(%(vectors)b::halfvec[])) AS n (id, made_of, embedding)
WHERE CASE %(kind)s::text
    WHEN 'memory' THEN EXISTS (
        SELECT FROM memory_units u WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = n.id)
    WHEN 'archived' THEN EXISTS (
        SELECT FROM invalidated_memory_units u WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = n.id)
    WHEN 'revision' THEN EXISTS (
        SELECT FROM observation_revisions u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.revision_id = n.id AND u.text IS NOT NULL)
    ELSE EXISTS (
        SELECT FROM mental_models m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = n.id AND m.content <> '')
    END
ORDER BY n.id
ON CONFLICT (tenant_id, bank_id, operation_id, kind, item_id) DO UPDATE SET made_of = excluded.made_of, embedding = excluded.embedding

-- close --
-- Keeps everybody from writing vectors of a bank for a while; whoever was about to has committed.
UPDATE banks SET vectors_closed_until = clock_timestamp() + make_interval(secs => %(seconds)s::double precision)
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- open --
-- Lets vectors of a bank be written again.
UPDATE banks SET vectors_closed_until = '-infinity'
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND vectors_closed_until > '-infinity'

-- put_page --
-- Puts new vectors of mental models in place, held in order, but of those that say something else by now; the ids that are through.
UPDATE mental_models AS m SET embedding = n.embedding, embedding_model = %(model)s::text
FROM (SELECT r.item_id, r.embedding FROM reembedded_vectors r
      JOIN mental_models m ON m.tenant_id = r.tenant_id AND m.bank_id = r.bank_id AND m.page_id = r.item_id
      WHERE {{r_is_of}} AND r.kind = 'page' AND r.item_id > %(after)s::uuid AND m.content <> '' AND r.made_of = {{m_made_of}}
      ORDER BY r.item_id LIMIT %(at_most)s::integer FOR NO KEY UPDATE OF m) AS n
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = n.item_id
RETURNING m.page_id AS id

-- adopt --
-- From now on a bank's vectors are this model's, and may be written; those that are not in place yet serve from beside.
UPDATE banks
SET embedding_model = %(model)s::text, vectors_beside = %(operation_id)s::uuid, vectors_closed_until = '-infinity', last_write_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND erased_at IS NULL
RETURNING bank_id

-- is_adopted --
-- Whether the vectors that an operation has made serve.
SELECT vectors_beside IS NOT DISTINCT FROM %(operation_id)s::uuid AS is_adopted FROM banks
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- is_moving --
-- Whether vectors of a bank serve from beside.
SELECT vectors_beside IS NOT NULL AS is_moving FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- move_memory --
-- Puts vectors that serve from beside in place, of rows held in order, and takes them out there; the ids that are through.
WITH held AS MATERIALIZED (
    SELECT r.item_id, r.embedding, l.embedding_model IS DISTINCT FROM %(model)s::text AS is_former
    FROM reembedded_vectors r
    JOIN memory_units l ON l.tenant_id = r.tenant_id AND l.bank_id = r.bank_id AND l.id = r.item_id
    WHERE {{r_is_of}} AND r.kind = 'memory' AND r.item_id > %(after)s::uuid
    ORDER BY r.item_id LIMIT %(at_most)s::integer FOR NO KEY UPDATE OF l
), moved AS (
    UPDATE memory_units AS u SET embedding = h.embedding, embedding_model = %(model)s::text
    FROM held h
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = h.item_id AND h.is_former
)
DELETE FROM reembedded_vectors r USING held h WHERE {{r_is_of}} AND r.kind = 'memory' AND r.item_id = h.item_id
RETURNING r.item_id

-- move_archived --
-- The same of facts that are out of use.
WITH held AS MATERIALIZED (
    SELECT r.item_id, r.embedding, l.embedding_model IS DISTINCT FROM %(model)s::text AS is_former
    FROM reembedded_vectors r
    JOIN invalidated_memory_units l ON l.tenant_id = r.tenant_id AND l.bank_id = r.bank_id AND l.id = r.item_id
    WHERE {{r_is_of}} AND r.kind = 'archived' AND r.item_id > %(after)s::uuid
    ORDER BY r.item_id LIMIT %(at_most)s::integer FOR NO KEY UPDATE OF l
), moved AS (
    UPDATE invalidated_memory_units AS u SET embedding = h.embedding, embedding_model = %(model)s::text
    FROM held h
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = h.item_id AND h.is_former
)
DELETE FROM reembedded_vectors r USING held h WHERE {{r_is_of}} AND r.kind = 'archived' AND r.item_id = h.item_id
RETURNING r.item_id

-- move_revision --
-- The same of former wordings, but those that lost their text.
WITH held AS MATERIALIZED (
    SELECT r.item_id, r.embedding, l.embedding_model IS DISTINCT FROM %(model)s::text AS is_former
    FROM reembedded_vectors r
    JOIN observation_revisions l ON l.tenant_id = r.tenant_id AND l.bank_id = r.bank_id AND l.revision_id = r.item_id
    WHERE {{r_is_of}} AND r.kind = 'revision' AND r.item_id > %(after)s::uuid AND l.text IS NOT NULL
    ORDER BY r.item_id LIMIT %(at_most)s::integer FOR NO KEY UPDATE OF l
), moved AS (
    UPDATE observation_revisions AS u SET embedding = h.embedding, embedding_model = %(model)s::text
    FROM held h
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.revision_id = h.item_id AND h.is_former
)
DELETE FROM reembedded_vectors r USING held h WHERE {{r_is_of}} AND r.kind = 'revision' AND r.item_id = h.item_id
RETURNING r.item_id

-- settle --
-- All vectors of a bank are in place.
UPDATE banks SET vectors_beside = NULL
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND vectors_beside = %(operation_id)s::uuid

-- replaced --
-- How many vectors an operation has replaced, or is putting in place.
SELECT coalesce((progress ->> 'total')::bigint, 0) AS vectors FROM operations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid

-- drop --
-- Removes some of the vectors that an operation which has ended left beside those that serve; it is not retried meanwhile.
WITH ended AS MATERIALIZED (
    SELECT o.operation_id FROM operations o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(operation_id)s::uuid
      AND o.status NOT IN ('pending', 'processing')
    FOR SHARE
), held AS MATERIALIZED (
    SELECT r.kind, r.item_id FROM reembedded_vectors r
    WHERE {{r_is_of}} AND EXISTS (SELECT FROM ended)
    ORDER BY r.kind, r.item_id LIMIT %(at_most)s::integer FOR UPDATE
)
DELETE FROM reembedded_vectors r
WHERE {{r_is_of}} AND r.kind = ANY (ARRAY(SELECT DISTINCT h.kind FROM held h)) AND r.item_id = ANY (ARRAY(SELECT h.item_id FROM held h))
