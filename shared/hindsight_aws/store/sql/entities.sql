-- known --
-- Entities that probes find: by their own name, by another spelling, or by a lookup key; labels by their name alone.
WITH asked AS MATERIALIZED (
    SELECT p.place, p.name_key, p.words
    FROM unnest(%(name_keys)s::text[], %(words)s::text[]) WITH ORDINALITY AS p (name_key, words, place)
), found AS MATERIALIZED (
    SELECT f.place, f.entity_id, bool_or(f.is_spelling) AS is_spelling
    FROM (
        SELECT a.place, e.entity_id, false AS is_spelling
        FROM asked AS a
        CROSS JOIN LATERAL (
            SELECT n.entity_id FROM entities AS n
            WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.name_key = a.name_key OFFSET 0) AS e
        UNION ALL
        SELECT a.place, e.entity_id, true
        FROM asked AS a
        CROSS JOIN LATERAL (
            SELECT s.entity_id FROM entity_spellings AS s
            WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.spelling_key = a.name_key OFFSET 0) AS e
        UNION ALL
        SELECT p.place, e.entity_id, false
        FROM unnest(%(places)s::bigint[], %(keys)s::bigint[]) AS p (place, key)
        CROSS JOIN LATERAL (
            SELECT k.entity_id FROM entity_keys AS k
            WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.key = p.key OFFSET 0) AS e
    ) AS f
    GROUP BY f.place, f.entity_id
)
SELECT a.name_key AS asked, f.is_spelling, e.*, name_similarity(e.words, a.words) AS similarity,
       ARRAY(SELECT s.spelling FROM entity_spellings AS s
             WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.entity_id = e.entity_id AND s.rule = 'likeness'
             ORDER BY s.score DESC, s.spelling_key LIMIT %(most_spellings)s::integer) AS spellings
FROM found AS f
JOIN asked AS a ON a.place = f.place
CROSS JOIN LATERAL (
    SELECT n.entity_id, n.canonical_name, n.name_key, n.kind, n.mention_count, n.last_dated, n.words FROM entities AS n
    WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.entity_id = f.entity_id OFFSET 0) AS e
ORDER BY a.place, e.name_key

-- companions --
-- Names that stand together with each entity in facts, some of each at most.
SELECT e.name_key, n.name_key AS companion
FROM unnest(%(entity_ids)s::uuid[]) AS i (entity_id)
CROSS JOIN LATERAL (
    SELECT x.name_key FROM entities AS x
    WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid AND x.entity_id = i.entity_id OFFSET 0) AS e
CROSS JOIN LATERAL (
    (SELECT o.entity_id_2 AS entity_id FROM entity_cooccurrences AS o
     WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.entity_id_1 = i.entity_id
     LIMIT %(most)s::integer)
    UNION ALL
    (SELECT o.entity_id_1 FROM entity_cooccurrences AS o
     WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.entity_id_2 = i.entity_id
     LIMIT %(most)s::integer)
) AS c
CROSS JOIN LATERAL (
    SELECT x.name_key FROM entities AS x
    WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid AND x.entity_id = c.entity_id OFFSET 0) AS n

-- make --
-- Entities of these names where missing, in order: waits for whoever makes one by any of its unique keys, where an upsert fails.
INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key, kind, words)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.entity_id, n.name, n.name_key, n.kind, n.words
FROM unnest(%(entity_ids)s::uuid[], %(names)s::text[], %(name_keys)s::text[], %(kinds)s::text[], %(words)s::text[])
     AS n (entity_id, name, name_key, kind, words)
ORDER BY n.name_key
ON CONFLICT DO NOTHING

-- claim --
-- Entities about to be mentioned, made where missing, and those that leaving facts name: all kept from change in order of their names.
INSERT INTO entities AS e (tenant_id, bank_id, entity_id, canonical_name, name_key, kind, words)
SELECT DISTINCT ON (c.name_key) %(tenant_id)s, %(bank_id)s::uuid, c.entity_id, c.canonical_name, c.name_key, c.kind, c.words
FROM (
    SELECT n.entity_id, n.canonical_name, n.name_key, n.kind, n.words
    FROM unit_entities AS l
    JOIN entities AS n ON n.tenant_id = l.tenant_id AND n.bank_id = l.bank_id AND n.entity_id = l.entity_id
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.unit_id = ANY (%(leaving)s::uuid[])
    UNION ALL
    SELECT n.entity_id, n.name, n.name_key, n.kind, n.words
    FROM unnest(%(entity_ids)s::uuid[], %(names)s::text[], %(name_keys)s::text[], %(kinds)s::text[], %(words)s::text[])
         AS n (entity_id, name, name_key, kind, words)
) AS c
ORDER BY c.name_key
ON CONFLICT (tenant_id, bank_id, name_key) DO UPDATE SET mention_count = e.mention_count

-- mention --
-- Entities mentioned, made where missing, in order of their names; of one that nothing mentioned the dates begin anew.
INSERT INTO entities AS e
    (tenant_id, bank_id, entity_id, canonical_name, name_key, kind, words, mention_count, first_seen, last_seen, last_dated)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.entity_id, n.name, n.name_key, n.kind, n.words, n.mentions, coalesce(n.first_at, now()),
       coalesce(n.last_at, now()), n.last_at
FROM unnest(%(entity_ids)s::uuid[], %(names)s::text[], %(name_keys)s::text[], %(kinds)s::text[], %(words)s::text[],
            %(mentions)s::integer[], %(first_at)s::timestamptz[], %(last_at)s::timestamptz[])
     AS n (entity_id, name, name_key, kind, words, mentions, first_at, last_at)
ORDER BY n.name_key
ON CONFLICT (tenant_id, bank_id, name_key) DO UPDATE
SET mention_count = e.mention_count + excluded.mention_count, words = excluded.words,
    first_seen = CASE e.mention_count WHEN 0 THEN excluded.first_seen ELSE least(e.first_seen, excluded.first_seen) END,
    last_seen = CASE e.mention_count WHEN 0 THEN excluded.last_seen ELSE greatest(e.last_seen, excluded.last_seen) END,
    last_dated = CASE e.mention_count WHEN 0 THEN excluded.last_dated ELSE greatest(e.last_dated, excluded.last_dated) END

-- add_keys --
-- Lookup keys of entities just mentioned, where they lack them.
INSERT INTO entity_keys (tenant_id, bank_id, key, entity_id)
SELECT DISTINCT %(tenant_id)s, %(bank_id)s::uuid, k.key, e.entity_id
FROM unnest(%(name_keys)s::text[], %(keys)s::bigint[]) AS k (name_key, key)
CROSS JOIN LATERAL (
    SELECT n.entity_id FROM entities AS n
    WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.name_key = k.name_key AND n.kind = 'regular' OFFSET 0) AS e
ON CONFLICT DO NOTHING

-- add_spellings --
-- Names that turned out to be an entity's of another name, in order; one that is known already stays as it is.
INSERT INTO entity_spellings (tenant_id, bank_id, spelling_key, entity_id, spelling, rule, score)
SELECT %(tenant_id)s, %(bank_id)s::uuid, s.spelling_key, e.entity_id, s.spelling, s.rule, s.score
FROM unnest(%(spelling_keys)s::text[], %(spellings)s::text[], %(name_keys)s::text[], %(rules)s::text[], %(scores)s::real[])
     AS s (spelling_key, spelling, name_key, rule, score)
CROSS JOIN LATERAL (
    SELECT n.entity_id FROM entities AS n
    WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.name_key = s.name_key OFFSET 0) AS e
ORDER BY s.spelling_key
ON CONFLICT DO NOTHING

-- join_facts --
-- Joins facts to the entities they name.
INSERT INTO unit_entities (tenant_id, bank_id, unit_id, entity_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid, m.unit_id, e.entity_id
FROM unnest(%(unit_ids)s::uuid[], %(name_keys)s::text[]) AS m (unit_id, name_key)
CROSS JOIN LATERAL (
    SELECT n.entity_id FROM entities AS n
    WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.name_key = m.name_key OFFSET 0) AS e
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

-- spellings --
-- Other names that an entity is known by, as they came.
SELECT s.spelling
FROM entity_spellings AS s
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.entity_id = %(entity_id)s::uuid
ORDER BY s.created_at, s.spelling_key

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
      AND {{u_tags_pass}}
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

-- graph --
-- Pairs that memories in sight name together, the heaviest first, with the entities they join and how many of each there are.
WITH seen AS MATERIALIZED (
    SELECT x.unit_id, x.entity_id, coalesce(u.event_date, u.created_at) AS at
    FROM unit_entities AS x
    JOIN memory_units AS u ON u.tenant_id = x.tenant_id AND u.bank_id = x.bank_id AND u.id = x.unit_id
    WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid
      AND u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
), pairs AS MATERIALIZED (
    SELECT a.entity_id AS one, b.entity_id AS other, count(*)::integer AS weight, max(a.at) AS last
    FROM seen AS a JOIN seen AS b ON b.unit_id = a.unit_id AND a.entity_id < b.entity_id
    GROUP BY a.entity_id, b.entity_id
    HAVING count(*) >= %(least)s::bigint
), totals AS (
    SELECT (SELECT count(DISTINCT e.entity_id) FROM pairs AS p CROSS JOIN LATERAL (VALUES (p.one), (p.other)) AS e (entity_id)) AS nodes,
           (SELECT count(*) FROM pairs) AS edges
), chosen AS MATERIALIZED (
    SELECT p.one, p.other, p.weight, p.last FROM pairs AS p ORDER BY p.weight DESC, p.one, p.other LIMIT %(limit)s::bigint
), joined AS (
    SELECT DISTINCT e.entity_id FROM chosen AS c CROSS JOIN LATERAL (VALUES (c.one), (c.other)) AS e (entity_id)
)
SELECT t.nodes, t.edges, r.one, r.other, r.weight, r.name, r.first_seen, r.last_seen
FROM totals AS t LEFT JOIN (
    SELECT c.one, c.other, c.weight, NULL::text AS name, NULL::timestamptz AS first_seen, c.last AS last_seen FROM chosen AS c
    UNION ALL
    SELECT j.entity_id, NULL::uuid, count(*)::integer, n.canonical_name, min(s.at), max(s.at)
    FROM joined AS j
    JOIN seen AS s ON s.entity_id = j.entity_id
    JOIN entities AS n ON n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.entity_id = j.entity_id
    GROUP BY j.entity_id, n.canonical_name
) AS r ON true
ORDER BY r.weight DESC, r.name, r.one, r.other
