-- find --
-- A bank by the id its callers use.
SELECT bank_id, external_id, name, config, embedding_model
FROM banks WHERE tenant_id = %(tenant_id)s AND external_id = %(external_id)s::text AND restored_by IS NULL AND erased_at IS NULL

-- by_id --
-- A bank by its internal id.
SELECT bank_id, external_id, name, config, embedding_model
FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND erased_at IS NULL

-- lock --
-- A bank by the id its callers use, kept from change; rows that refer to it may still come.
SELECT bank_id, external_id, name, config, embedding_model
FROM banks WHERE tenant_id = %(tenant_id)s AND external_id = %(external_id)s::text AND restored_by IS NULL AND erased_at IS NULL
FOR NO KEY UPDATE

-- create --
-- A new bank, unless one of that id came first, or the id is another bank's alias.
INSERT INTO banks (tenant_id, bank_id, external_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid, %(external_id)s::text
WHERE NOT EXISTS (SELECT FROM bank_aliases a WHERE a.tenant_id = %(tenant_id)s AND a.alias = %(external_id)s::text)
ON CONFLICT (tenant_id, external_id) DO NOTHING
RETURNING bank_id, external_id, name, config, embedding_model

-- save --
-- A bank's name and its own settings, replaced.
UPDATE banks SET name = %(name)s::text, config = %(config)s::json, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- lock_whole --
-- A bank kept from change and from new rows that refer to it; taken at once, for raising a weaker lock to it may deadlock.
SELECT bank_id FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid FOR UPDATE

-- take_time --
-- Lets the statements that follow in this transaction run for longer than others may.
SELECT set_config('statement_timeout', %(timeout_ms)s::text, true)

-- count_contents --
-- How many facts, observations, entities and documents are in a bank.
SELECT (SELECT count(*) FROM memory_units u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type <> 'shadow')
     + (SELECT count(*) FROM entities e WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid)
     + (SELECT count(*) FROM documents d
        WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND NOT d.is_pending) AS contents

-- delete --
-- Removes a bank; its rows everywhere go with it.
DELETE FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- page --
-- Banks, last written first, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT b.bank_id, b.external_id, b.name, b.config, b.embedding_model, b.created_at, b.updated_at, b.last_write_at
    FROM banks AS b
    WHERE b.tenant_id = %(tenant_id)s AND b.restored_by IS NULL AND b.erased_at IS NULL
      AND (%(covered)s::text IS NULL OR b.external_id ~ %(covered)s::text)
      AND (%(text)s::text IS NULL OR strpos(lower(b.external_id), lower(%(text)s::text)) > 0
           OR strpos(lower(coalesce(b.name, '')), lower(%(text)s::text)) > 0
           OR EXISTS (SELECT FROM bank_aliases AS a WHERE a.tenant_id = %(tenant_id)s AND a.bank_id = b.bank_id
                      AND strpos(lower(a.alias), lower(%(text)s::text)) > 0))
)
SELECT (SELECT count(*) FROM matching) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT m.*,
           (SELECT coalesce(sum(c.units), 0)::bigint FROM bank_counters AS c
            WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = m.bank_id) AS facts,
           (SELECT d.updated_at FROM documents AS d
            WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = m.bank_id AND NOT d.is_pending
            ORDER BY d.updated_at DESC LIMIT 1) AS last_document_at,
           (SELECT a.alias FROM bank_aliases AS a
            WHERE a.tenant_id = %(tenant_id)s AND a.bank_id = m.bank_id AND a.is_primary) AS primary_alias,
           ARRAY(SELECT a.alias FROM bank_aliases AS a WHERE a.tenant_id = %(tenant_id)s AND a.bank_id = m.bank_id
                 AND strpos(lower(a.alias), lower(%(text)s::text)) > 0 ORDER BY a.created_at, a.alias) AS matched_aliases
    FROM matching AS m
    ORDER BY m.last_write_at DESC NULLS LAST, m.external_id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY p.last_write_at DESC NULLS LAST, p.external_id
