-- lock_tree --
-- Keeps others from changing the tree of a bank until the transaction ends; taken before any row.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', 'knowledge', %(tenant_id)s::text, %(bank_id)s::text), 0))

-- nodes --
-- Every folder and page of a bank, by name.
SELECT node_id, kind, name, parent_id, page_id, named_by, named_at FROM knowledge_pages
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
ORDER BY lower(name), node_id

-- seen --
-- The mental models in sight that are pages.
SELECT m.page_id
FROM knowledge_pages k JOIN mental_models m ON m.tenant_id = k.tenant_id AND m.bank_id = k.bank_id AND m.page_id = k.page_id
WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid
  AND {{m_in_sight}}

-- add --
-- A folder or a page; nothing where the folder has a page of that name.
INSERT INTO knowledge_pages (tenant_id, bank_id, node_id, parent_id, kind, name, page_id, named_by, named_at)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(node_id)s::text, %(parent_id)s::text, %(kind)s::text, %(name)s::text, %(page_id)s::uuid,
        %(named_by)s::jsonb, %(named_at)s::timestamptz)
ON CONFLICT DO NOTHING

-- change --
-- A node's name, place and namer; nothing where the folder has another page of that name.
UPDATE knowledge_pages k
SET name = %(name)s::text, parent_id = %(parent_id)s::text, named_by = %(named_by)s::jsonb, named_at = %(named_at)s::timestamptz
WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.node_id = %(node_id)s::text
  AND NOT EXISTS (SELECT FROM knowledge_pages o
                  WHERE o.tenant_id = k.tenant_id AND o.bank_id = k.bank_id AND o.node_id <> k.node_id AND o.kind = 'page' AND k.kind = 'page'
                    AND coalesce(o.parent_id, '') = coalesce(%(parent_id)s::text, '') AND lower(o.name) = lower(%(name)s::text))

-- rename_page --
-- The page of a mental model has the model's new name; false where its folder has another page of that name.
WITH page AS MATERIALIZED (
    SELECT k.node_id, EXISTS (SELECT FROM knowledge_pages o
                              WHERE o.tenant_id = k.tenant_id AND o.bank_id = k.bank_id AND o.node_id <> k.node_id AND o.kind = 'page'
                                AND coalesce(o.parent_id, '') = coalesce(k.parent_id, '') AND lower(o.name) = lower(%(name)s::text)) AS is_taken
    FROM knowledge_pages k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = %(page_id)s::uuid
), renamed AS (
    UPDATE knowledge_pages k SET name = %(name)s::text, named_at = clock_timestamp()
    FROM page p
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.node_id = p.node_id AND NOT p.is_taken
)
SELECT NOT coalesce(bool_or(p.is_taken), false) AS is_free FROM page p

-- remove_folders --
-- Removes folders in which nothing is left but one another.
DELETE FROM knowledge_pages
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND kind = 'folder' AND node_id = ANY (%(ids)s::text[])

-- texts --
-- Pages in sight by their ids; the text of one that rests on what is gone is told to nobody.
SELECT k.node_id, m.model_id, m.name, m.source_query, {{m_text_shown}} AS content, {{m_written_at}} AS written_at
FROM knowledge_pages k JOIN mental_models m ON m.tenant_id = k.tenant_id AND m.bank_id = k.bank_id AND m.page_id = k.page_id
WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.node_id = ANY (%(ids)s::text[])
  AND {{m_in_sight}}

-- likely --
-- Pages in sight, those that hold the most of some beginnings of words first; without words to go by all are as likely.
SELECT p.node_id, p.model_id, p.name, p.source_query, p.content, p.written_at
FROM (SELECT k.node_id, m.model_id, m.name, m.source_query, {{m_text_shown}} AS content, {{m_written_at}} AS written_at
      FROM knowledge_pages k JOIN mental_models m ON m.tenant_id = k.tenant_id AND m.bank_id = k.bank_id AND m.page_id = k.page_id
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid
        AND {{m_in_sight}}
      OFFSET 0) AS p
CROSS JOIN LATERAL (SELECT lower(concat_ws(' ', p.name, p.source_query, p.content)) AS small OFFSET 0) AS said
CROSS JOIN LATERAL (SELECT count(*) AS held FROM unnest(%(beginnings)s::text[]) AS b (beginning)
                    WHERE strpos(said.small, b.beginning) > 0) AS words
ORDER BY words.held DESC, p.node_id
LIMIT %(at_most)s::integer

-- nearest --
-- The pages in sight with a text that the same model embedded and that are near enough to a vector, nearest first.
SELECT p.node_id, p.relevance
FROM (SELECT k.node_id, 1 - (m.embedding <=> %(vector)s::halfvec(512)) AS relevance
      FROM knowledge_pages k JOIN mental_models m ON m.tenant_id = k.tenant_id AND m.bank_id = k.bank_id AND m.page_id = k.page_id
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND m.embedding IS NOT NULL
        AND m.embedding_model = %(embedding_model)s::text AND m.content <> '' AND NOT {{m_is_withheld}}
        AND {{m_in_sight}}
      OFFSET 0) AS p
WHERE p.relevance >= %(least)s::double precision
ORDER BY p.relevance DESC, p.node_id
LIMIT %(at_most)s::integer

-- past --
-- The latest former texts of mental models, as many as fit into a size; the text of one that rests on what is gone is not told.
SELECT t.page_id, t.changed_at, t.content
FROM (SELECT r.*, sum(coalesce(octet_length(r.content), 0) + 100) OVER (ORDER BY r.place, r.page_id) AS bytes_so_far
      FROM (SELECT k.page_id, k.changed_at, k.sequence,
                   CASE WHEN NOT EXISTS (SELECT FROM mental_model_citations c
                                         WHERE c.tenant_id = k.tenant_id AND c.bank_id = k.bank_id AND c.page_id = k.page_id
                                           AND c.version = k.version AND c.memory_id IS NULL) THEN k.content END AS content,
                   row_number() OVER (PARTITION BY k.page_id ORDER BY k.sequence DESC) AS place
            FROM mental_model_revisions k
            WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = ANY (%(page_ids)s::uuid[])
              AND k.kind = 'version' AND k.outcome IS DISTINCT FROM 'not_kept') AS r
      WHERE r.place <= %(each)s::integer) AS t
WHERE t.bytes_so_far <= %(most_bytes)s::bigint
ORDER BY t.page_id, t.sequence DESC
