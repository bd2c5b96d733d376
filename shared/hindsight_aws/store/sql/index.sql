-- add_terms --
-- Postings of memories.
INSERT INTO unit_terms (tenant_id, bank_id, fact_type, term, unit_id, tf, length)
SELECT %(tenant_id)s, %(bank_id)s::uuid, u.fact_type, p.term, u.id, p.tf, u.length
FROM unnest(%(places)s::integer[], %(terms)s::text[], %(counts)s::smallint[]) AS p (place, term, tf)
JOIN unnest(%(ids)s::uuid[], %(fact_types)s::text[], %(lengths)s::integer[]) WITH ORDINALITY AS u (id, fact_type, length, place)
  ON u.place = p.place
ORDER BY u.fact_type, p.term, u.id

-- add_tags --
-- Tags of memories, one row each.
INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid, t.tag, t.id
FROM unnest(%(ids)s::uuid[], %(tags)s::text[]) AS t (id, tag)
ORDER BY t.tag, t.id

-- drop_tags --
-- Takes the tags of memories out, before others take their place.
DELETE FROM unit_tags WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND unit_id = ANY (%(ids)s::uuid[])

-- drop_terms --
-- Takes the postings of memories out, before others take their place.
DELETE FROM unit_terms WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND unit_id = ANY (%(ids)s::uuid[])

-- count --
-- Changes a bank's counters by type, on one shard.
INSERT INTO bank_counters AS b (tenant_id, bank_id, fact_type, shard, units, terms)
SELECT %(tenant_id)s, %(bank_id)s::uuid, n.fact_type, %(shard)s::smallint, n.units, n.terms
FROM unnest(%(fact_types)s::text[], %(units)s::bigint[], %(terms)s::bigint[]) AS n (fact_type, units, terms)
ORDER BY n.fact_type
ON CONFLICT (tenant_id, bank_id, fact_type, shard) DO UPDATE SET units = b.units + excluded.units, terms = b.terms + excluded.terms
