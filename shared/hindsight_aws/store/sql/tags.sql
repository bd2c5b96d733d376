-- page --
-- Tags of the memories that pass the filters, most used first, with how many there are.
WITH used AS MATERIALIZED (
    SELECT t.tag, count(*) AS uses
    FROM memory_units AS u CROSS JOIN LATERAL unnest(u.tags) AS t (tag)
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
      AND (%(pattern)s::text IS NULL OR lower(t.tag) LIKE lower(%(pattern)s::text))
    GROUP BY t.tag
)
SELECT (SELECT count(*) FROM used) AS total, u.tag, u.uses
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT p.tag, p.uses FROM used AS p ORDER BY p.uses DESC, p.tag LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS u ON true
ORDER BY u.uses DESC, u.tag

-- of_models --
-- Tags of the mental models in sight, most used first, with how many there are.
WITH used AS MATERIALIZED (
    SELECT t.tag, count(*) AS uses
    FROM mental_models AS m CROSS JOIN LATERAL unnest(m.tags) AS t (tag)
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND {{m_in_sight}}
      AND (%(pattern)s::text IS NULL OR lower(t.tag) LIKE lower(%(pattern)s::text))
    GROUP BY t.tag
)
SELECT (SELECT count(*) FROM used) AS total, u.tag, u.uses
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT p.tag, p.uses FROM used AS p ORDER BY p.uses DESC, p.tag LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS u ON true
ORDER BY u.uses DESC, u.tag

-- names --
-- Tags of the memories that the types and the filter let see, in order, each found from the one before it by index; the last looked at has no name.
WITH RECURSIVE used AS (
    (SELECT t.tag
     FROM unit_tags AS t
     WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid
     ORDER BY t.tag
     LIMIT 1)
    UNION ALL
    SELECT next.tag
    FROM used
    CROSS JOIN LATERAL (
        SELECT t.tag
        FROM unit_tags AS t
        WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid AND t.tag > used.tag
        ORDER BY t.tag
        LIMIT 1
    ) AS next
)
SELECT CASE WHEN walked.number <= %(most_walked)s::bigint THEN walked.tag END
FROM (
    SELECT used.tag, row_number() OVER () AS number FROM used LIMIT %(most_walked)s::bigint + 1
) AS walked
WHERE walked.number > %(most_walked)s::bigint OR EXISTS (
    SELECT
    FROM unit_tags AS t
    CROSS JOIN LATERAL (
        SELECT * FROM memory_units AS m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.id = t.unit_id OFFSET 0
    ) AS u
    WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid AND t.tag = walked.tag
      AND u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
)
LIMIT %(at_most)s::bigint
