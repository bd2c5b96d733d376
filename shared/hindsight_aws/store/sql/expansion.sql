-- bound --
-- Bounds each statement's time; every one keeps one plan, for all go by the keys of the bank.
SELECT set_config('statement_timeout', %(timeout_ms)s::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)

-- near --
-- The facts of one type that the seeds lead to: over their entities' newest facts, over likeness and over cause, strongest first.
WITH seeds AS MATERIALIZED (
    SELECT s.id FROM unnest(%(seeds)s::uuid[]) AS s (id)
), entities_of AS MATERIALIZED (
    SELECT n.entity_id, least(1, %(common)s::float8 / greatest(n.mention_count, 1)) AS weight
    FROM (
        SELECT x.entity_id, count(*) AS seeds
        FROM seeds AS s
        JOIN unit_entities AS x ON x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s AND x.unit_id = s.id
        GROUP BY x.entity_id
    ) AS held
    JOIN entities AS n ON n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s AND n.entity_id = held.entity_id
    ORDER BY weight DESC, held.seeds DESC, n.entity_id
    LIMIT %(most_entities)s::bigint
), named AS MATERIALIZED (
    SELECT f.id, tanh(0.5 * sum(e.weight)) AS score
    FROM entities_of AS e
    CROSS JOIN LATERAL (
        SELECT newest.unit_id AS id
        FROM (
            SELECT x.unit_id, x.linked_at
            FROM unit_entities AS x
            WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s AND x.entity_id = e.entity_id
            ORDER BY x.linked_at DESC, x.unit_id
            LIMIT %(most_read)s::bigint
        ) AS newest
        CROSS JOIN LATERAL (
            SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = newest.unit_id OFFSET 0
        ) AS u
        WHERE u.fact_type = %(fact_type)s::text AND u.id <> ALL (%(seeds)s::uuid[])
          AND {{u_passes}}
        ORDER BY newest.linked_at DESC, newest.unit_id
        LIMIT %(per_entity)s::bigint
    ) AS f
    GROUP BY f.id
), joined AS MATERIALIZED (
    SELECT l.id, l.is_alike, max(l.weight) AS score
    FROM seeds AS s
    CROSS JOIN LATERAL (
        (SELECT k.to_unit AS id, k.link_type = 'semantic' AS is_alike, k.weight
         FROM memory_links AS k
         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.from_unit = s.id AND k.link_type <> 'temporal'
         ORDER BY k.to_unit, k.link_type LIMIT %(most_read)s::bigint)
        UNION ALL
        (SELECT k.from_unit, k.link_type = 'semantic', k.weight
         FROM memory_links AS k
         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.to_unit = s.id AND k.link_type <> 'temporal'
         ORDER BY k.link_type, k.from_unit LIMIT %(most_read)s::bigint)
    ) AS l
    WHERE l.id <> ALL (%(seeds)s::uuid[])
    GROUP BY l.id, l.is_alike
), passing AS MATERIALIZED (
    SELECT j.id, j.score, row_number() OVER (PARTITION BY j.is_alike ORDER BY j.score DESC, j.id) AS place
    FROM joined AS j
    CROSS JOIN LATERAL (
        SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = j.id OFFSET 0
    ) AS u
    WHERE u.fact_type = %(fact_type)s::text
          AND {{u_passes}}
)
SELECT found.id, round(sum(found.score)::numeric, 6)::float8 AS activation
FROM (
    SELECT named.id, named.score FROM named
    UNION ALL
    SELECT passing.id, passing.score FROM passing WHERE passing.place <= %(at_most)s::bigint
) AS found
GROUP BY found.id
ORDER BY activation DESC, found.id
LIMIT %(at_most)s::bigint

-- near_observations --
-- The observations that the seeds lead to: over the entities and the links of the visible facts beneath them, strongest first.
WITH beneath AS MATERIALIZED (
    SELECT DISTINCT u.id
    FROM unnest(%(seeds)s::uuid[]) AS s (id)
    CROSS JOIN LATERAL (
        SELECT e.fact_id
        FROM observation_evidence AS e
        WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = s.id
        ORDER BY e.created_at DESC, e.fact_id
        LIMIT %(most_sources)s::bigint
    ) AS newest
    CROSS JOIN LATERAL (
        SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = newest.fact_id OFFSET 0
    ) AS u
    WHERE u.fact_type = ANY (%(source_types)s::text[])
      AND {{u_source_tags_pass}}
), entities_of AS MATERIALIZED (
    SELECT n.entity_id, least(1, %(common)s::float8 / greatest(n.mention_count, 1)) AS weight
    FROM (
        SELECT x.entity_id, count(*) AS facts
        FROM beneath AS b
        JOIN unit_entities AS x ON x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s AND x.unit_id = b.id
        GROUP BY x.entity_id
    ) AS held
    JOIN entities AS n ON n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s AND n.entity_id = held.entity_id
    ORDER BY weight DESC, held.facts DESC, n.entity_id
    LIMIT %(most_entities)s::bigint
), connected AS MATERIALIZED (
    SELECT f.id, 'entity' AS way, max(e.weight) AS weight
    FROM entities_of AS e
    CROSS JOIN LATERAL (
        SELECT u.id
        FROM (
            SELECT x.unit_id, x.linked_at
            FROM unit_entities AS x
            WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s AND x.entity_id = e.entity_id
            ORDER BY x.linked_at DESC, x.unit_id
            LIMIT %(most_read)s::bigint
        ) AS newest
        CROSS JOIN LATERAL (
            SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = newest.unit_id OFFSET 0
        ) AS u
        WHERE u.fact_type = ANY (%(source_types)s::text[])
          AND {{u_source_tags_pass}}
          AND u.id NOT IN (SELECT beneath.id FROM beneath)
        ORDER BY newest.linked_at DESC, newest.unit_id
        LIMIT %(per_entity)s::bigint
    ) AS f
    GROUP BY f.id
    UNION ALL
    SELECT l.id, l.way, max(l.weight)
    FROM beneath AS b
    CROSS JOIN LATERAL (
        (SELECT k.to_unit AS id, CASE k.link_type WHEN 'semantic' THEN 'likeness' ELSE 'cause' END AS way, k.weight::float8
         FROM memory_links AS k
         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.from_unit = b.id AND k.link_type <> 'temporal'
         ORDER BY k.to_unit, k.link_type LIMIT %(per_entity)s::bigint)
        UNION ALL
        (SELECT k.from_unit, CASE k.link_type WHEN 'semantic' THEN 'likeness' ELSE 'cause' END, k.weight::float8
         FROM memory_links AS k
         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.to_unit = b.id AND k.link_type <> 'temporal'
         ORDER BY k.link_type, k.from_unit LIMIT %(per_entity)s::bigint)
    ) AS l
    CROSS JOIN LATERAL (
        SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = l.id OFFSET 0
    ) AS u
    WHERE u.fact_type = ANY (%(source_types)s::text[])
      AND {{u_source_tags_pass}}
      AND u.id NOT IN (SELECT beneath.id FROM beneath)
    GROUP BY l.id, l.way
), resting AS MATERIALIZED (
    SELECT e.observation_id AS id,
           coalesce(tanh(0.5 * sum(c.weight) FILTER (WHERE c.way = 'entity')), 0)
           + coalesce(max(c.weight) FILTER (WHERE c.way = 'likeness'), 0)
           + coalesce(max(c.weight) FILTER (WHERE c.way = 'cause'), 0) AS score
    FROM connected AS c
    JOIN observation_evidence AS e ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.fact_id = c.id
    WHERE e.observation_id <> ALL (%(seeds)s::uuid[])
    GROUP BY e.observation_id
)
SELECT r.id, round(r.score::numeric, 6)::float8 AS activation
FROM resting AS r
CROSS JOIN LATERAL (
    SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = r.id OFFSET 0
) AS u
WHERE u.fact_type = 'observation'
          AND {{u_passes}}
ORDER BY activation DESC, r.id
LIMIT %(at_most)s::bigint

-- linked --
-- What the entries of one type lead to over links of time and cause, the strongest of each entry, with their dates.
SELECT strongest.id, strongest.link_type, strongest.weight,
       CASE WHEN isfinite(strongest.occurred_start) THEN strongest.occurred_start END,
       CASE WHEN isfinite(strongest.occurred_end) THEN strongest.occurred_end END,
       CASE WHEN isfinite(strongest.mentioned_at) THEN strongest.mentioned_at END
FROM unnest(%(entries)s::uuid[]) AS s (id)
CROSS JOIN LATERAL (
    SELECT u.id, l.link_type, l.weight, u.occurred_start, u.occurred_end, u.mentioned_at
    FROM (
        (SELECT k.to_unit AS id, k.link_type, k.weight
         FROM memory_links AS k
         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.from_unit = s.id AND k.link_type <> 'semantic'
         ORDER BY k.to_unit, k.link_type LIMIT %(most_read)s::bigint)
        UNION ALL
        (SELECT k.from_unit, k.link_type, k.weight
         FROM memory_links AS k
         WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.to_unit = s.id AND k.link_type <> 'semantic'
         ORDER BY k.link_type, k.from_unit LIMIT %(most_read)s::bigint)
    ) AS l
    CROSS JOIN LATERAL (
        SELECT * FROM memory_units AS m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = l.id OFFSET 0
    ) AS u
    WHERE l.weight >= %(least_weight)s::float8 AND u.fact_type = %(fact_type)s::text AND u.id <> ALL (%(entries)s::uuid[])
          AND {{u_vector}} <=> %(embedding)s::halfvec <= %(farthest)s::float8
          AND {{u_passes}}
    ORDER BY l.weight DESC, l.link_type, u.id
    LIMIT %(most_links)s::bigint
) AS strongest
ORDER BY strongest.id, strongest.link_type
