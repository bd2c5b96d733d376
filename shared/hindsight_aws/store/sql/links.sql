-- take_out --
-- Takes the first links of these facts out, in the one order that all keep, and queues the facts at their other ends; says how many.
WITH touched AS MATERIALIZED (
    SELECT l.from_unit, l.to_unit, l.link_type FROM memory_links l
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.from_unit = ANY (%(ids)s::uuid[])
    UNION
    SELECT l.from_unit, l.to_unit, l.link_type FROM memory_links l
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.to_unit = ANY (%(ids)s::uuid[])
), locked AS MATERIALIZED (
    SELECT l.from_unit, l.to_unit, l.link_type
    FROM touched t
    JOIN memory_links l ON l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid
      AND l.from_unit = t.from_unit AND l.to_unit = t.to_unit AND l.link_type = t.link_type
    WHERE NOT %(facts_stay)s::boolean OR l.link_type IN ('temporal', 'semantic')
    ORDER BY l.from_unit, l.to_unit, l.link_type
    LIMIT %(at_most)s
    FOR UPDATE OF l
), left_behind AS (
    SELECT h.from_unit AS id FROM locked h WHERE h.link_type IN ('temporal', 'semantic')
    UNION
    SELECT h.to_unit FROM locked h WHERE h.link_type IN ('temporal', 'semantic')
    EXCEPT
    SELECT i.id FROM unnest(%(ids)s::uuid[]) AS i (id)
), queued AS (
    INSERT INTO link_maintenance (tenant_id, bank_id, kind, item_id)
    SELECT %(tenant_id)s, %(bank_id)s::uuid, 'fact', b.id FROM left_behind b
), gone AS (
    DELETE FROM memory_links l USING locked h
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid
      AND l.from_unit = h.from_unit AND l.to_unit = h.to_unit AND l.link_type = h.link_type
    RETURNING l.from_unit
)
SELECT count(*) AS links FROM gone

-- queue_facts --
-- Queues facts that change.
INSERT INTO link_maintenance (tenant_id, bank_id, kind, item_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid, 'fact', i.id FROM unnest(%(ids)s::uuid[]) AS i (id)

-- queue_entities --
-- Queues the entities that these facts mention.
INSERT INTO link_maintenance (tenant_id, bank_id, kind, item_id)
SELECT DISTINCT x.tenant_id, x.bank_id, 'entity', x.entity_id
FROM unit_entities x
WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid AND x.unit_id = ANY (%(ids)s::uuid[])

-- queue_archived_entities --
-- Queues the entities that these archived facts, or those of these documents or types, hold and no live one does: they go for good.
INSERT INTO link_maintenance (tenant_id, bank_id, kind, item_id)
SELECT DISTINCT i.tenant_id, i.bank_id, 'entity', held.entity_id
FROM invalidated_memory_units i
CROSS JOIN LATERAL unnest(i.entity_ids) AS held (entity_id)
WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid
  AND (%(document_ids)s::uuid[] IS NULL OR i.document_id = ANY (%(document_ids)s::uuid[]))
  AND (%(fact_types)s::text[] IS NULL OR i.fact_type = ANY (%(fact_types)s::text[]))
  AND (%(fact_ids)s::uuid[] IS NULL OR i.id = ANY (%(fact_ids)s::uuid[]))
  AND NOT EXISTS (
      SELECT FROM unit_entities x
      WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid AND x.entity_id = held.entity_id)

-- add --
-- Links between facts that are there to stay; one that somebody is removing gets none, and nobody waits for it.
WITH locked AS MATERIALIZED (
    SELECT m.id FROM memory_units m
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.id = ANY (%(ends)s::uuid[])
    ORDER BY m.id
    FOR KEY SHARE SKIP LOCKED
)
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.from_unit, n.to_unit, %(kind)s::text, n.weight
FROM unnest(%(from_units)s::uuid[], %(to_units)s::uuid[], %(weights)s::real[]) AS n (from_unit, to_unit, weight)
JOIN locked f ON f.id = n.from_unit
JOIN locked t ON t.id = n.to_unit
ORDER BY n.from_unit, n.to_unit
ON CONFLICT DO NOTHING

-- degrees --
-- How many links of a kind facts have, from either end.
SELECT u.id,
       (SELECT count(*) FROM memory_links l
        WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.from_unit = u.id AND l.link_type = %(kind)s::text)
       + (SELECT count(*) FROM memory_links l
          WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.to_unit = u.id AND l.link_type = %(kind)s::text) AS links
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])
ORDER BY u.id

-- near_in_time --
-- For facts with so many links already the nearest events of their type that they are not linked to, before and after.
SELECT a.id AS from_unit, near.id AS to_unit,
       1 - extract(epoch FROM near.apart)::double precision / extract(epoch FROM %(within)s::interval)::double precision AS weight
FROM unnest(%(ids)s::uuid[], %(links)s::integer[]) AS a (id, links)
JOIN memory_units n ON n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.id = ANY (%(ids)s::uuid[]) AND n.id = a.id
CROSS JOIN LATERAL (
    SELECT ARRAY(
        SELECT l.to_unit FROM memory_links l
        WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.from_unit = a.id AND l.link_type = 'temporal'
        UNION ALL
        SELECT l.from_unit FROM memory_links l
        WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.to_unit = a.id AND l.link_type = 'temporal'
    ) AS ids OFFSET 0) AS linked
CROSS JOIN LATERAL (
    SELECT c.id, c.apart
    FROM (
        (SELECT m.id, n.event_date - m.event_date AS apart, row_number() OVER (ORDER BY m.event_date DESC, m.id DESC) AS place
         FROM memory_units m
         WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.fact_type = n.fact_type
           AND (m.event_date, m.id) < (n.event_date, n.id) AND m.event_date > n.event_date - %(within)s::interval
         ORDER BY m.event_date DESC, m.id DESC LIMIT %(most)s::integer + a.links)
        UNION ALL
        (SELECT m.id, m.event_date - n.event_date AS apart, row_number() OVER (ORDER BY m.event_date, m.id) AS place
         FROM memory_units m
         WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.fact_type = n.fact_type
           AND (m.event_date, m.id) > (n.event_date, n.id) AND m.event_date < n.event_date + %(within)s::interval
         ORDER BY m.event_date, m.id LIMIT %(most)s::integer + a.links)
    ) AS c
    WHERE c.id <> ALL (linked.ids)
    ORDER BY c.apart, c.place, c.id LIMIT %(most)s::integer - a.links) AS near
WHERE n.event_date IS NOT NULL AND n.fact_type IN ('world', 'experience')

-- near_in_meaning --
-- For facts with so many links already the nearest of their type among all that they are not linked to; OFFSET 0 keeps the index out.
SELECT a.id AS from_unit, near.id AS to_unit, least(greatest(1 - near.distance, 0), 1) AS weight
FROM unnest(%(ids)s::uuid[], %(links)s::integer[]) AS a (id, links)
JOIN (SELECT u.id, u.fact_type, {{u_vector}} AS embedding FROM memory_units u
      WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])) AS n ON n.id = a.id
CROSS JOIN LATERAL (
    SELECT {{a_is_like}} AS ids OFFSET 0) AS linked
CROSS JOIN LATERAL (
    SELECT c.id, c.distance
    FROM (SELECT u.id, {{u_vector}} <=> n.embedding AS distance
          FROM memory_units u
          WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = n.fact_type
          OFFSET 0) AS c
    WHERE c.id <> a.id AND c.distance <= %(farthest)s::double precision
      AND c.id <> ALL (linked.ids)
    ORDER BY c.distance, c.id LIMIT %(most)s::integer - a.links) AS near
WHERE n.embedding IS NOT NULL AND n.fact_type IN ('world', 'experience')

-- search_by_index --
-- Lets the vector index look further until enough rows of the bank are found, within this transaction.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', %(tuples)s::text, true)

-- near_by_index --
-- The same as the vector index of the fact's type proposes them: of the two arms one runs for each fact.
SELECT a.id AS from_unit, near.id AS to_unit, least(greatest(1 - near.distance, 0), 1) AS weight
FROM unnest(%(ids)s::uuid[], %(links)s::integer[]) AS a (id, links)
JOIN (SELECT u.id, u.fact_type, {{u_vector}} AS embedding FROM memory_units u
      WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])) AS n ON n.id = a.id
CROSS JOIN LATERAL (
    SELECT {{a_is_like}} AS ids OFFSET 0) AS linked
CROSS JOIN LATERAL (
    SELECT c.id, c.distance
    FROM (
        (SELECT u.id, u.embedding <=> n.embedding AS distance
         FROM memory_units u
         WHERE n.fact_type = 'world'
           AND u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = 'world' AND {{u_is_in_place}}
         ORDER BY u.embedding <=> n.embedding LIMIT %(most)s::integer + a.links + 1)
        UNION ALL
        (SELECT u.id, u.embedding <=> n.embedding AS distance
         FROM memory_units u
         WHERE n.fact_type = 'experience'
           AND u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = 'experience' AND {{u_is_in_place}}
         ORDER BY u.embedding <=> n.embedding LIMIT %(most)s::integer + a.links + 1)
        UNION ALL
        (SELECT r.item_id, r.embedding <=> n.embedding
         FROM reembedded_vectors r
         CROSS JOIN LATERAL (
             SELECT FROM memory_units u
             WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = r.item_id
               AND u.fact_type = n.fact_type AND NOT {{u_is_in_place}}
             OFFSET 0) AS there
         WHERE {{beside}} IS NOT NULL
           AND r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.operation_id = {{beside}} AND r.kind = 'memory'
         ORDER BY r.embedding <=> n.embedding LIMIT %(most)s::integer + a.links + 1)
    ) AS c
    WHERE c.id <> a.id AND c.distance <= %(farthest)s::double precision
      AND c.id <> ALL (linked.ids)
    ORDER BY c.distance, c.id LIMIT %(most)s::integer - a.links) AS near
WHERE n.embedding IS NOT NULL AND n.fact_type IN ('world', 'experience')

-- take_lease --
-- Takes the lease if it is free; else marks the bank woken again, in the same statement, for the holder to see.
UPDATE banks
SET link_woken = link_lease_until >= now(),
    link_fence = link_fence + (link_lease_until < now())::integer,
    link_lease_until = CASE WHEN link_lease_until < now() THEN now() + make_interval(secs => %(seconds)s) ELSE link_lease_until END
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = %(tenant_id)s AND t.suspended_at IS NOT NULL)
RETURNING link_fence AS fence, link_woken AS woken

-- lock_lease --
-- Keeps a bank from going while its lease is still ours: who deletes it waits here, before it takes any fact.
SELECT bank_id FROM banks
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND link_fence = %(fence)s
FOR KEY SHARE

-- renew_lease --
-- Extends a lease that is still ours and clears the wake-up mark: what woke it is read before the lease is given back.
UPDATE banks
SET link_lease_until = now() + make_interval(secs => %(seconds)s), link_woken = false
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND link_fence = %(fence)s

-- release_lease --
-- Gives back a lease that is still ours, unless a wake-up came or entries are due.
UPDATE banks
SET link_lease_until = '-infinity', link_woken = false
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND link_fence = %(fence)s
  AND (%(even_if_woken)s OR NOT link_woken AND NOT EXISTS (
      SELECT FROM link_maintenance q
      WHERE q.tenant_id = %(tenant_id)s AND q.bank_id = %(bank_id)s::uuid AND q.due_at <= now()))

-- due --
-- Facts or entities with entries that are due, in the order of their ids, with all those entries.
SELECT q.item_id, array_agg(q.entry_id) AS entries
FROM link_maintenance q
WHERE q.tenant_id = %(tenant_id)s AND q.bank_id = %(bank_id)s::uuid AND q.kind = %(kind)s::text AND q.due_at <= now()
GROUP BY q.item_id
ORDER BY q.item_id
LIMIT %(at_most)s

-- settle --
-- Takes entries off the queue, those that were read and no later ones.
DELETE FROM link_maintenance q
WHERE q.tenant_id = %(tenant_id)s AND q.bank_id = %(bank_id)s::uuid AND q.entry_id = ANY (%(entries)s::uuid[])

-- postpone --
-- Makes entries due later.
UPDATE link_maintenance q SET due_at = now() + make_interval(secs => %(seconds)s)
WHERE q.tenant_id = %(tenant_id)s AND q.bank_id = %(bank_id)s::uuid AND q.entry_id = ANY (%(entries)s::uuid[])

-- free_entities --
-- Which of these entities are there, and of those the ones that nobody is writing to, kept from new mentions until the end.
WITH locked AS MATERIALIZED (
    SELECT e.entity_id FROM entities e
    WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.entity_id = ANY (%(ids)s::uuid[])
    ORDER BY e.entity_id
    FOR UPDATE SKIP LOCKED
)
SELECT e.entity_id, h.entity_id IS NOT NULL AS is_free
FROM entities e
LEFT JOIN locked h ON h.entity_id = e.entity_id
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.entity_id = ANY (%(ids)s::uuid[])
ORDER BY e.entity_id

-- remove_orphans --
-- Removes those of these entities, all locked, that no fact mentions; one that an archived fact may bring back stays.
DELETE FROM entities e
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.entity_id = ANY (%(ids)s::uuid[])
  AND NOT EXISTS (
      SELECT FROM unit_entities x
      WHERE x.tenant_id = e.tenant_id AND x.bank_id = e.bank_id AND x.entity_id = e.entity_id)
  AND e.entity_id NOT IN (
      SELECT unnest(i.entity_ids) FROM invalidated_memory_units i
      WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid)

-- recount_cooccurrences --
-- Lowers the pairs of these entities, all locked, to the facts that mention both, and removes those that no fact mentions.
WITH witnessed AS MATERIALIZED (
    SELECT least(x.entity_id, y.entity_id) AS entity_id_1, greatest(x.entity_id, y.entity_id) AS entity_id_2,
           count(*) AS facts, max(u.event_date) AS last_at
    FROM unit_entities x
    JOIN unit_entities y ON y.tenant_id = x.tenant_id AND y.bank_id = x.bank_id AND y.unit_id = x.unit_id
    JOIN memory_units u ON u.tenant_id = x.tenant_id AND u.bank_id = x.bank_id AND u.id = x.unit_id
    WHERE x.tenant_id = %(tenant_id)s AND x.bank_id = %(bank_id)s::uuid AND x.entity_id = ANY (%(ids)s::uuid[])
      AND y.entity_id <> x.entity_id AND (x.entity_id < y.entity_id OR y.entity_id <> ALL (%(ids)s::uuid[]))
    GROUP BY 1, 2
), lowered AS (
    UPDATE entity_cooccurrences o
    SET cooccurrences = w.facts, last_cooccurred = least(o.last_cooccurred, coalesce(w.last_at, o.last_cooccurred))
    FROM witnessed w
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
      AND o.entity_id_1 = w.entity_id_1 AND o.entity_id_2 = w.entity_id_2 AND o.cooccurrences > w.facts
)
DELETE FROM entity_cooccurrences o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
  AND (o.entity_id_1 = ANY (%(ids)s::uuid[]) OR o.entity_id_2 = ANY (%(ids)s::uuid[]))
  AND NOT EXISTS (SELECT FROM witnessed w WHERE w.entity_id_1 = o.entity_id_1 AND w.entity_id_2 = o.entity_id_2)
