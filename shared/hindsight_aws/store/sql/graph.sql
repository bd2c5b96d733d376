-- nodes --
-- Memories that pass the filters, last mentioned first, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT u.id, u.fact_type, u.text, u.context, u.event_date, u.occurred_start, u.occurred_end, u.mentioned_at, u.created_at,
           u.document_id, u.chunk_index, u.tags, u.proof_count
    FROM memory_units AS u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
      AND (%(text)s::text IS NULL OR strpos(lower(u.text), lower(%(text)s::text)) > 0
           OR strpos(lower(coalesce(u.context, '')), lower(%(text)s::text)) > 0)
      AND (%(document)s::text IS NULL OR u.document_id = (
              SELECT d.document_id FROM documents AS d
              WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.external_id = %(document)s::text))
      AND (%(chunk_index)s::integer IS NULL OR u.chunk_index = %(chunk_index)s::integer)
)
SELECT (SELECT count(*) FROM matching) AS total, m.*, d.external_id AS document, ARRAY(
    SELECT n.canonical_name
    FROM unit_entities AS x
    JOIN entities AS n ON n.tenant_id = x.tenant_id AND n.bank_id = x.bank_id AND n.entity_id = x.entity_id
    WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid AND x.unit_id = m.id
    ORDER BY n.canonical_name
) AS entities
FROM (SELECT) AS one
LEFT JOIN LATERAL (
    SELECT * FROM matching AS f ORDER BY f.mentioned_at DESC NULLS LAST, f.created_at DESC, f.id LIMIT %(limit)s::bigint
) AS m ON true
LEFT JOIN documents AS d
  ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = m.document_id
ORDER BY m.mentioned_at DESC NULLS LAST, m.created_at DESC, m.id

-- edges --
-- The links among these memories.
SELECT l.from_unit, l.to_unit, l.link_type, l.weight
FROM memory_links AS l
WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid
  AND l.from_unit = ANY (%(ids)s::uuid[]) AND l.to_unit = ANY (%(ids)s::uuid[])
ORDER BY l.from_unit, l.to_unit, l.link_type
