-- sizes --
-- How many memories of each type a bank holds, their terms in all, and how many vectors the type's shared index holds.
SELECT c.fact_type, sum(c.units)::bigint, sum(c.terms)::bigint,
       (SELECT greatest(i.reltuples, 0)::bigint
        FROM pg_class AS i WHERE i.oid = ('hindsight.memory_units_' || c.fact_type || '_vector')::regclass)
FROM bank_counters AS c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s
GROUP BY c.fact_type

-- count_anchored --
-- How many memories each alternative anchor leads to, counted up to a bound: by its tags and, if it has no tag, as untagged.
SELECT o.option, (
    SELECT count(*) FROM (
        SELECT FROM unit_tags AS t
        WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s AND t.tag = ANY (o.tags)
        LIMIT %(at_most)s::bigint + 1
    ) AS counted
), (
    SELECT count(*) FROM (
        SELECT FROM memory_units AS u
        WHERE o.untagged AND u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.tags = '{}'
        LIMIT %(at_most)s::bigint + 1
    ) AS counted
)
FROM (
    SELECT s.option, array_agg(s.tag) FILTER (WHERE s.tag IS NOT NULL) AS tags, bool_or(s.tag IS NULL) AS untagged
    FROM unnest(%(options)s::integer[], %(tags)s::text[]) AS s (option, tag)
    GROUP BY s.option
) AS o

-- vectors_of --
-- What model a bank's vectors are of.
SELECT embedding_model FROM banks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- plan_once --
-- Lets statements of this transaction keep one plan: their form leaves no other way than by the keys of the bank.
SELECT set_config('plan_cache_mode', 'force_generic_plan', true)

-- plan_by_size --
-- Plans by the bank's real size, with pages in memory or on network storage, where order of reading matters little.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('random_page_cost', '1.1', true)

-- bound_index_scan --
-- Lets vector index scans of this transaction go on until enough of the bank's rows have passed.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.ef_search', %(ef_search)s::text, true),
       set_config('hnsw.max_scan_tuples', %(max_scan_tuples)s::text, true)

-- semantic_exact --
-- The memories of one type nearest to a vector, every vector of the bank read; OFFSET 0 keeps the vector index out of it.
SELECT near.id, 1 - near.distance
FROM (
    SELECT u.id, {{u_vector}} <=> %(embedding)s::halfvec AS distance
    FROM memory_units AS u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.fact_type = %(fact_type)s::text
      AND u.embedding IS NOT NULL
      AND {{u_passes}}
    OFFSET 0
) AS near
WHERE near.distance <= %(farthest)s::float8
ORDER BY near.distance, near.id
LIMIT %(at_most)s::bigint

-- semantic_tagged --
-- The memories of one type nearest to a vector among those that the filter's anchor leads to, read one by one.
SELECT near.id, 1 - near.distance
FROM (
    SELECT m.id, m.distance
    FROM (
        SELECT t.unit_id
        FROM unit_tags AS t
        WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s AND t.tag = ANY (%(anchor)s::text[])
        UNION
        SELECT n.id
        FROM memory_units AS n
        WHERE %(with_untagged)s::boolean AND n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s AND n.tags = '{}'
    ) AS tagged
    CROSS JOIN LATERAL (
        SELECT u.id, {{u_vector}} <=> %(embedding)s::halfvec AS distance
        FROM memory_units AS u
        WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = tagged.unit_id
          AND u.fact_type = %(fact_type)s::text AND u.embedding IS NOT NULL
          AND {{u_passes}}
        OFFSET 0
    ) AS m
) AS near
WHERE near.distance <= %(farthest)s::float8
ORDER BY near.distance, near.id
LIMIT %(at_most)s::bigint

-- semantic_index_world --
-- The world facts nearest to a vector through their shared index, re-sorted because the scan's order is only nearly right.
WITH near AS MATERIALIZED (
    (SELECT u.id, u.embedding <=> %(embedding)s::halfvec AS distance
     FROM memory_units AS u
     WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.fact_type = 'world'
       AND {{u_is_in_place}}
       AND {{u_passes}}
     ORDER BY u.embedding <=> %(embedding)s::halfvec
     LIMIT %(at_most)s::bigint)
    UNION ALL
    {{nearest_beside}}
)
SELECT near.id, 1 - near.distance FROM near WHERE near.distance <= %(farthest)s::float8 ORDER BY near.distance, near.id
LIMIT %(at_most)s::bigint

-- semantic_index_experience --
-- The experiences nearest to a vector through their shared index, re-sorted because the scan's order is only nearly right.
WITH near AS MATERIALIZED (
    (SELECT u.id, u.embedding <=> %(embedding)s::halfvec AS distance
     FROM memory_units AS u
     WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.fact_type = 'experience'
       AND {{u_is_in_place}}
       AND {{u_passes}}
     ORDER BY u.embedding <=> %(embedding)s::halfvec
     LIMIT %(at_most)s::bigint)
    UNION ALL
    {{nearest_beside}}
)
SELECT near.id, 1 - near.distance FROM near WHERE near.distance <= %(farthest)s::float8 ORDER BY near.distance, near.id
LIMIT %(at_most)s::bigint

-- semantic_index_observation --
-- The observations nearest to a vector through their shared index, re-sorted because the scan's order is only nearly right.
WITH near AS MATERIALIZED (
    (SELECT u.id, u.embedding <=> %(embedding)s::halfvec AS distance
     FROM memory_units AS u
     WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.fact_type = 'observation'
       AND {{u_is_in_place}}
       AND {{u_passes}}
     ORDER BY u.embedding <=> %(embedding)s::halfvec
     LIMIT %(at_most)s::bigint)
    UNION ALL
    {{nearest_beside}}
)
SELECT near.id, 1 - near.distance FROM near WHERE near.distance <= %(farthest)s::float8 ORDER BY near.distance, near.id
LIMIT %(at_most)s::bigint

-- keyword --
-- The memories of one type that match the rarest terms best by BM25, rarity counted over all types asked for.
WITH counted AS MATERIALIZED (
    SELECT asked.term, asked.position, (
        SELECT count(*) FROM (
            SELECT FROM unit_terms AS t
            WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s AND t.fact_type = ANY (%(fact_types)s::text[])
              AND t.term = asked.term
            LIMIT %(count_cap)s::bigint
        ) AS capped
    )::float8 AS df
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS asked (term, position)
), chosen AS MATERIALIZED (
    SELECT ranked.term, ranked.rank = 1 OR ranked.running <= %(postings)s::bigint AS is_rare,
           power(ln(1 + (greatest(%(units)s::float8, ranked.df) - ranked.df + 0.5) / (ranked.df + 0.5)), %(rarity)s::float8)
           * (%(k1)s::float8 + 1) AS weight
    FROM (
        SELECT c.term, row_number() OVER rarest AS rank, sum(c.df) OVER rarest AS running,
               CASE WHEN c.df < %(count_cap)s::bigint THEN c.df ELSE sqrt(c.df * greatest(%(units)s::float8, c.df)) END AS df
        FROM counted AS c
        WHERE c.df > 0
        WINDOW rarest AS (ORDER BY c.df, c.position ROWS UNBOUNDED PRECEDING)
    ) AS ranked
    WHERE ranked.rank <= %(most_terms)s::bigint
), rare AS MATERIALIZED (
    SELECT p.unit_id, sum(c.weight * p.tf / (p.tf + %(flat)s::float8 + %(slope)s::float8 * p.length)) AS score
    FROM chosen AS c
    CROSS JOIN LATERAL (
        SELECT t.unit_id, t.tf, t.length
        FROM unit_terms AS t
        WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s AND t.fact_type = %(fact_type)s::text AND t.term = c.term
          AND (%(anchor)s::text[] IS NULL OR t.unit_id IN (
              SELECT g.unit_id
              FROM unit_tags AS g
              WHERE g.tenant_id = %(tenant_id)s AND g.bank_id = %(bank_id)s AND g.tag = ANY (%(anchor)s::text[])
              UNION ALL
              SELECT n.id
              FROM memory_units AS n
              WHERE %(with_untagged)s::boolean AND n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s
                AND n.tags = '{}'))
        LIMIT %(postings)s::bigint
    ) AS p
    WHERE c.is_rare
    GROUP BY p.unit_id
), best AS MATERIALIZED (
    SELECT r.unit_id, r.score
    FROM (SELECT rare.unit_id, rare.score FROM rare ORDER BY rare.score DESC, rare.unit_id OFFSET 0) AS r
    WHERE ({{everything_passes}})
       OR EXISTS (
           SELECT FROM memory_units AS u
           WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = r.unit_id
             AND {{u_passes}})
    LIMIT 2 * %(at_most)s::bigint
), scored AS MATERIALIZED (
    SELECT b.unit_id, b.score + coalesce((
        SELECT sum(c.weight * t.tf / (t.tf + %(flat)s::float8 + %(slope)s::float8 * t.length))
        FROM chosen AS c
        JOIN unit_terms AS t
          ON t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s AND t.fact_type = %(fact_type)s::text
         AND t.term = c.term AND t.unit_id = b.unit_id
        WHERE NOT c.is_rare
    ), 0) AS score
    FROM best AS b
)
SELECT s.unit_id, s.score
FROM scored AS s
WHERE s.score >= %(least)s::float8
ORDER BY s.score DESC, s.unit_id
LIMIT %(at_most)s::bigint

-- rarity --
-- In how many memories of the types each term stands, counted up to a bound; terms that stand in none are left out.
SELECT counted.term, counted.units
FROM (
    SELECT asked.term, (
        SELECT count(*) FROM (
            SELECT FROM unit_terms AS t
            WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s AND t.fact_type = ANY (%(fact_types)s::text[])
              AND t.term = asked.term
            LIMIT %(count_cap)s::bigint
        ) AS capped
    ) AS units
    FROM unnest(%(terms)s::text[]) AS asked (term)
) AS counted
WHERE counted.units > 0

-- dated --
-- The memories of one type nearest to a vector of those that happened or were told of in the windows, the newest of too many.
WITH met AS MATERIALIZED (
    SELECT u.id, {{u_vector}} <=> %(embedding)s::halfvec AS distance, u.occurred_start, u.occurred_end, u.mentioned_at
    FROM unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS asked (first, last)
    CROSS JOIN LATERAL (
        (SELECT m.id, false AS lasts
         FROM memory_units AS m
         WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.fact_type = %(fact_type)s::text
           AND m.event_date >= asked.first AND m.event_date <= asked.last
         ORDER BY m.event_date DESC, m.id DESC)
        UNION ALL
        (SELECT m.id, false
         FROM memory_units AS m
         WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.fact_type = %(fact_type)s::text
           AND m.mentioned_at >= asked.first AND m.mentioned_at <= asked.last
           AND coalesce(m.event_date NOT BETWEEN asked.first AND asked.last, true)
         ORDER BY m.mentioned_at DESC NULLS LAST, m.created_at DESC, m.id)
        UNION ALL
        (SELECT m.id, true
         FROM memory_units AS m
         WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.fact_type = %(fact_type)s::text
           AND m.occurred_end IS NOT NULL AND m.occurred_end IS DISTINCT FROM m.occurred_start
           AND m.occurred_end >= asked.first AND isfinite(m.occurred_end)
           AND coalesce(m.occurred_start, m.occurred_end) <= asked.last AND isfinite(coalesce(m.occurred_start, m.occurred_end))
         ORDER BY m.occurred_end, m.occurred_start, m.id)
    ) AS touching
    CROSS JOIN LATERAL (
        SELECT * FROM memory_units AS m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = touching.id OFFSET 0
    ) AS u
    WHERE u.embedding IS NOT NULL
      AND (NOT touching.lasts
           OR coalesce(u.event_date NOT BETWEEN asked.first AND asked.last, true)
              AND coalesce(u.mentioned_at NOT BETWEEN asked.first AND asked.last, true))
      AND {{u_passes}}
    LIMIT %(most_read)s::bigint
), once AS (
    SELECT DISTINCT ON (met.id) met.id, met.distance, met.occurred_start, met.occurred_end, met.mentioned_at
    FROM met
    WHERE met.distance <= %(farthest_dated)s::float8
    ORDER BY met.id
)
SELECT o.id, 1 - o.distance,
       CASE WHEN isfinite(o.occurred_start) THEN o.occurred_start END, CASE WHEN isfinite(o.occurred_end) THEN o.occurred_end END,
       CASE WHEN isfinite(o.mentioned_at) THEN o.mentioned_at END
FROM once AS o
ORDER BY o.distance, o.id
LIMIT %(at_most)s::bigint

-- clock --
-- What time it is in the middle of a transaction, in seconds.
SELECT extract(epoch FROM clock_timestamp())::float8 FROM (SELECT %(tenant_id)s::uuid) AS asked

-- units --
-- The rows of these memories that are of the types and pass the filter.
SELECT {{u_columns}}
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_units AS m
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = wanted.id OFFSET 0
) AS u
LEFT JOIN documents AS d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s AND d.document_id = u.document_id
WHERE u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_passes}}

-- sources --
-- The facts each observation rests on, oldest evidence first, and whether the caller may see them.
SELECT e.observation_id, e.fact_id,
       u.fact_type = ANY (%(fact_types)s::text[])
       AND {{u_tags_pass}}
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
JOIN observation_evidence AS e
  ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = wanted.id
JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = e.fact_id
ORDER BY e.observation_id, e.created_at, e.fact_id

-- quotes --
-- The words of the facts that each observation rests on, of those facts that the caller may see.
SELECT e.observation_id, e.fact_id, e.quote, e.origin
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
JOIN observation_evidence AS e
  ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = wanted.id
JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = e.fact_id
WHERE u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
ORDER BY e.observation_id, e.created_at, e.fact_id

-- entities --
-- Entities, and the places of the memories that have them or rest on facts, which the caller may see, that have them.
WITH wanted AS MATERIALIZED (
    SELECT w.id, w.place FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS w (id, place)
), holder AS (
    SELECT wanted.place, wanted.id AS unit_id FROM wanted
    UNION ALL
    SELECT wanted.place, e.fact_id
    FROM wanted
    JOIN observation_evidence AS e
      ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = wanted.id
    JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = e.fact_id
    WHERE wanted.id = ANY (%(observations)s::uuid[]) AND u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
), held AS MATERIALIZED (
    SELECT b.entity_id, array_agg(DISTINCT holder.place) AS places
    FROM holder
    JOIN unit_entities AS b ON b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s AND b.unit_id = holder.unit_id
    GROUP BY b.entity_id
)
SELECT n.entity_id, n.canonical_name, held.places
FROM held
CROSS JOIN LATERAL (
    SELECT m.entity_id, m.canonical_name FROM entities AS m
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.entity_id = held.entity_id OFFSET 0
) AS n
ORDER BY n.canonical_name, n.entity_id

-- source_units --
-- The rows of the facts under these observations that are of the types and pass the filter.
SELECT {{u_columns}}
FROM (
    SELECT DISTINCT e.fact_id
    FROM unnest(%(ids)s::uuid[]) AS wanted (id)
    JOIN observation_evidence AS e
      ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = wanted.id
) AS source
JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = source.fact_id
LEFT JOIN documents AS d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s AND d.document_id = u.document_id
WHERE u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}

-- freshness --
-- By observation: its scope, and how many of the scope's facts wait and how many were given up, each counted up to a thousand.
WITH held AS MATERIALIZED (
    SELECT u.id, u.scope_id
    FROM unnest(%(ids)s::uuid[]) AS wanted (id)
    JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = wanted.id
    WHERE u.scope_id IS NOT NULL
), behind AS MATERIALIZED (
    SELECT s.scope_id, waiting.facts AS pending, given_up.facts AS failed
    FROM (SELECT DISTINCT scope_id FROM held) AS s
    CROSS JOIN LATERAL (
        SELECT count(*) AS facts FROM (
            SELECT FROM consolidation_work AS w
            WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.scope_id = s.scope_id AND w.state = 'pending'
            LIMIT 1000
        ) AS counted
    ) AS waiting
    CROSS JOIN LATERAL (
        SELECT count(*) AS facts FROM (
            SELECT FROM consolidation_work AS w
            WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.scope_id = s.scope_id AND w.state = 'failed'
            LIMIT 1000
        ) AS counted
    ) AS given_up
)
SELECT h.id, b.scope_id, b.pending, b.failed FROM held AS h JOIN behind AS b ON b.scope_id = h.scope_id

-- chunks --
-- The chunks under these memories, in their order and until there is text enough, of documents that pass the filter and are the caller's own.
WITH wanted AS (
    SELECT w.id, w.position FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS w (id, position)
), referred AS (
    SELECT u.document_id, u.chunk_index, wanted.position, 0::bigint AS place
    FROM wanted
    CROSS JOIN LATERAL (
        SELECT m.document_id, m.chunk_index FROM memory_units AS m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = wanted.id OFFSET 0
    ) AS u
    UNION ALL
    SELECT u.document_id, u.chunk_index, wanted.position,
           row_number() OVER (PARTITION BY wanted.position ORDER BY e.created_at, e.fact_id)
    FROM wanted
    JOIN observation_evidence AS e
      ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = wanted.id
    CROSS JOIN LATERAL (
        SELECT m.document_id, m.chunk_index, m.fact_type, m.tags FROM memory_units AS m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND m.id = e.fact_id OFFSET 0
    ) AS u
    WHERE u.fact_type = ANY (%(fact_types)s::text[])
      AND {{u_tags_pass}}
), firsts AS (
    SELECT DISTINCT ON (r.document_id, r.chunk_index) r.document_id, r.chunk_index, r.position, r.place
    FROM referred AS r
    WHERE r.document_id IS NOT NULL AND r.chunk_index IS NOT NULL
    ORDER BY r.document_id, r.chunk_index, r.position, r.place
), sized AS (
    SELECT d.external_id, c.chunk_index, c.chunk_text, f.position, f.place,
           sum(char_length(c.chunk_text)) OVER (ORDER BY f.position, f.place, d.external_id, c.chunk_index)
           - char_length(c.chunk_text) AS before
    FROM firsts AS f
    JOIN documents AS d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s AND d.document_id = f.document_id
    JOIN chunks AS c
      ON c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s
     AND c.document_id = f.document_id AND c.chunk_index = f.chunk_index
    WHERE {{d_tags_pass}}
      AND {{d_is_own}}
)
SELECT s.external_id, s.chunk_index, s.chunk_text
FROM sized AS s
WHERE s.before < %(enough)s::bigint
ORDER BY s.position, s.place, s.external_id, s.chunk_index
