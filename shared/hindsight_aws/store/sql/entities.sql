-- mention --
-- Entities of these names, made where missing; their mentions are counted, in order of their names.
INSERT INTO entities AS e (tenant_id, bank_id, entity_id, canonical_name, name_key, mention_count, first_seen, last_seen)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.entity_id, n.name, n.name_key, n.mentions, coalesce(n.first_at, now()), coalesce(n.last_at, now())
FROM unnest(%(entity_ids)s::uuid[], %(names)s::text[], %(name_keys)s::text[], %(mentions)s::integer[], %(first_at)s::timestamptz[],
            %(last_at)s::timestamptz[]) AS n (entity_id, name, name_key, mentions, first_at, last_at)
ORDER BY n.name_key
ON CONFLICT (tenant_id, bank_id, name_key) DO UPDATE
SET mention_count = e.mention_count + excluded.mention_count, first_seen = least(e.first_seen, excluded.first_seen),
    last_seen = greatest(e.last_seen, excluded.last_seen)

-- join_facts --
-- Joins facts to the entities they name.
INSERT INTO unit_entities (tenant_id, bank_id, unit_id, entity_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid, m.unit_id, e.entity_id
FROM unnest(%(unit_ids)s::uuid[], %(name_keys)s::text[]) AS m (unit_id, name_key)
JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.name_key = m.name_key
ORDER BY m.unit_id, e.entity_id
ON CONFLICT DO NOTHING

-- count_cooccurrences --
-- Counts each pair of entities that a new fact names together.
INSERT INTO entity_cooccurrences AS o (tenant_id, bank_id, entity_id_1, entity_id_2, cooccurrences, last_cooccurred)
SELECT %(tenant_id)s, %(bank_id)s::uuid, a.entity_id, b.entity_id, count(*), coalesce(max(f.at), now())
FROM unnest(%(unit_ids)s::uuid[], %(times)s::timestamptz[]) AS f (unit_id, at)
JOIN unit_entities a ON a.tenant_id = %(tenant_id)s AND a.bank_id = %(bank_id)s::uuid AND a.unit_id = f.unit_id
JOIN unit_entities b ON b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid AND b.unit_id = f.unit_id
WHERE a.entity_id < b.entity_id
GROUP BY a.entity_id, b.entity_id
ORDER BY a.entity_id, b.entity_id
ON CONFLICT (tenant_id, bank_id, entity_id_1, entity_id_2) DO UPDATE
SET cooccurrences = o.cooccurrences + excluded.cooccurrences, last_cooccurred = greatest(o.last_cooccurred, excluded.last_cooccurred)

-- page --
-- Entities of the whole bank by mentions, with how many there are.
SELECT (SELECT count(*) FROM entities AS c WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid) AS total, e.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT n.entity_id, n.canonical_name, n.mention_count, n.first_seen, n.last_seen
    FROM entities AS n
    WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid
      AND (%(entity_id)s::uuid IS NULL OR n.entity_id = %(entity_id)s::uuid)
    ORDER BY n.mention_count DESC, n.canonical_name, n.entity_id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS e ON true
ORDER BY e.mention_count DESC, e.canonical_name, e.entity_id

-- page_in_sight --
-- Entities that memories passing the filters mention, with mentions and dates over those alone.
WITH mentioned AS MATERIALIZED (
    SELECT n.entity_id, n.canonical_name, count(*) AS mention_count,
           min(coalesce(u.event_date, u.created_at)) AS first_seen, max(coalesce(u.event_date, u.created_at)) AS last_seen
    FROM unit_entities AS x
    JOIN memory_units AS u ON u.tenant_id = x.tenant_id AND u.bank_id = x.bank_id AND u.id = x.unit_id
    JOIN entities AS n ON n.tenant_id = x.tenant_id AND n.bank_id = x.bank_id AND n.entity_id = x.entity_id
    WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid
      AND (%(entity_id)s::uuid IS NULL OR x.entity_id = %(entity_id)s::uuid)
      AND u.fact_type = ANY (%(fact_types)s::text[])
      AND (%(any_of)s::text[] IS NULL OR u.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(u.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
    GROUP BY n.entity_id, n.canonical_name
)
SELECT (SELECT count(*) FROM mentioned) AS total, e.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT m.entity_id, m.canonical_name, m.mention_count, m.first_seen, m.last_seen
    FROM mentioned AS m
    ORDER BY m.mention_count DESC, m.canonical_name, m.entity_id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS e ON true
ORDER BY e.mention_count DESC, e.canonical_name, e.entity_id
