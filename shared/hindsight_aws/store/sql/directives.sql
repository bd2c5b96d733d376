-- applying --
-- Active directives that pass the filter, by priority, then newest first.
SELECT d.directive_id AS id, d.name, d.content, d.priority, d.is_active, d.tags, d.created_at, d.updated_at
FROM directives AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.is_active
  AND {{d_tags_pass}}
ORDER BY d.priority DESC, d.created_at DESC, d.directive_id DESC
LIMIT %(at_most)s::bigint

-- among --
-- Which of these directives are still there.
SELECT d.directive_id AS id FROM directives AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.directive_id = ANY (%(ids)s::uuid[])

-- page --
-- Directives that pass the filters in that order, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT d.directive_id AS id, d.name, d.content, d.priority, d.is_active, d.tags, d.created_at, d.updated_at
    FROM directives AS d
    WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND (d.is_active OR NOT %(only_active)s::boolean)
      AND {{d_tags_pass}}
)
SELECT (SELECT count(*) FROM matching) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT m.* FROM matching AS m
    ORDER BY m.priority DESC, m.created_at DESC, m.id DESC LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY p.priority DESC, p.created_at DESC, p.id DESC

-- view --
-- One directive, if it passes the filter.
SELECT d.directive_id AS id, d.name, d.content, d.priority, d.is_active, d.tags, d.created_at, d.updated_at
FROM directives AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.directive_id = %(directive_id)s::uuid
  AND {{d_tags_pass}}

-- lock --
-- One directive, if it passes the filter, kept from other writers.
SELECT d.directive_id AS id, d.name, d.content, d.priority, d.is_active, d.tags, d.created_at, d.updated_at
FROM directives AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.directive_id = %(directive_id)s::uuid
  AND {{d_tags_pass}}
FOR NO KEY UPDATE

-- add --
-- A new directive.
INSERT INTO directives (tenant_id, bank_id, directive_id, name, content, priority, is_active, tags)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(directive_id)s::uuid, %(name)s::text, %(content)s::text, %(priority)s::integer,
        %(is_active)s::boolean, %(tags)s::text[])
RETURNING directive_id AS id, name, content, priority, is_active, tags, created_at, updated_at

-- save --
-- What a directive says from now on.
UPDATE directives SET name = %(name)s::text, content = %(content)s::text, priority = %(priority)s::integer,
       is_active = %(is_active)s::boolean, tags = %(tags)s::text[], updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND directive_id = %(directive_id)s::uuid
RETURNING directive_id AS id, name, content, priority, is_active, tags, created_at, updated_at

-- delete --
-- Removes a directive.
DELETE FROM directives
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND directive_id = %(directive_id)s::uuid
