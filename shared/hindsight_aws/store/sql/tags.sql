-- page --
-- Tags of the memories that pass the filters, most used first, with how many there are.
WITH used AS MATERIALIZED (
    SELECT t.tag, count(*) AS uses
    FROM memory_units AS u CROSS JOIN LATERAL unnest(u.tags) AS t (tag)
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
      AND (%(any_of)s::text[] IS NULL OR u.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(u.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
      AND (%(pattern)s::text IS NULL OR lower(t.tag) LIKE lower(%(pattern)s::text))
    GROUP BY t.tag
)
SELECT (SELECT count(*) FROM used) AS total, u.tag, u.uses
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT p.tag, p.uses FROM used AS p ORDER BY p.uses DESC, p.tag LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS u ON true
ORDER BY u.uses DESC, u.tag
