-- What a bank has that was in use for a while; one statement for each part that a semicolon ends.
INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, document_id, chunk_index, ordinal, text, embedding, embedding_model,
    event_date, mentioned_at, tags, observation_scopes, terms, metadata)
SELECT tenant_id, bank_id, gen_random_uuid(), 'experience', document_id, 0, n, %(mark)s || ' fact ' || n, embedding, embedding_model,
       '2024-05-06 07:08:09.123456+02', '2024-05-06 07:08:09.123456+02', tags, '[["user:*"]]', 0, '{"n": "1"}'
FROM memory_units, generate_series(1, 5) AS n WHERE id = %(fact)s;
INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id)
SELECT tenant_id, bank_id, tag, id FROM memory_units, unnest(tags) AS tag WHERE bank_id = %(bank)s AND text LIKE '%% fact %%';
INSERT INTO bank_counters (tenant_id, bank_id, fact_type, shard, units, terms)
VALUES (%(tenant)s, %(bank)s, 'experience', 3, 5, 0);
INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
SELECT tenant_id, bank_id, id, %(fact)s, unnest(ARRAY['temporal', 'caused_by']), 0.7 FROM memory_units
WHERE bank_id = %(bank)s AND text LIKE '%% fact %%';
INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id, state, due_at)
SELECT u.tenant_id, u.bank_id, gen_random_uuid(), u.id, s.scope_id, 'pending', now() FROM memory_units u, scopes s
WHERE u.bank_id = %(bank)s AND s.bank_id = %(bank)s AND u.text LIKE '%% fact %%';
INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text, tags, evidence,
    added_fact_ids, embedding, provenance)
SELECT tenant_id, bank_id, gen_random_uuid(), id, scope_id, 'create', text, tags,
       jsonb_build_array(jsonb_build_object('fact_id', %(fact)s::text, 'quote', %(mark)s || ' keeps', 'origin', 'model')), ARRAY[%(fact)s::uuid], embedding, '{}'
FROM memory_units WHERE id = %(observation)s;
INSERT INTO revision_facts (tenant_id, bank_id, fact_id, revision_id)
SELECT tenant_id, bank_id, %(fact)s, revision_id FROM observation_revisions WHERE bank_id = %(bank)s;
INSERT INTO document_revisions (tenant_id, bank_id, document_id, revision_id, kind, detail)
SELECT tenant_id, bank_id, document_id, gen_random_uuid(), 'fact_invalidated', jsonb_build_object('fact_id', %(fact)s::text)
FROM documents WHERE bank_id = %(bank)s;
INSERT INTO invalidated_memory_units (tenant_id, bank_id, id, fact_type, document_id, text, version, tags, entity_ids, causal_links,
    created_at, updated_at)
SELECT d.tenant_id, d.bank_id, gen_random_uuid(), 'world', d.document_id, %(mark)s || ' has gone', 2, u.tags, ARRAY[e.entity_id],
       jsonb_build_array(jsonb_build_object('to', %(fact)s::text)), now(), now()
FROM documents d, entities e, memory_units u WHERE d.bank_id = %(bank)s AND e.bank_id = %(bank)s AND u.id = %(fact)s;
INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key, kind, mention_count)
VALUES (%(tenant)s, %(bank)s, gen_random_uuid(), 'mood:calm', 'mood:calm', 'label', 0);
INSERT INTO entity_cooccurrences (tenant_id, bank_id, entity_id_1, entity_id_2)
SELECT tenant_id, bank_id, min(entity_id::text)::uuid, max(entity_id::text)::uuid FROM entities WHERE bank_id = %(bank)s GROUP BY 1, 2;
INSERT INTO link_maintenance (tenant_id, bank_id, item_id) VALUES (%(tenant)s, %(bank)s, %(fact)s);
INSERT INTO sealed_generations (tenant_id, bank_id, generation_id, scope_id, fact_ids, content, delete_after)
SELECT tenant_id, bank_id, gen_random_uuid(), scope_id, ARRAY[%(fact)s::uuid], jsonb_build_object('text', %(mark)s || ' was sealed'),
       now() + interval '1 day' FROM scopes
WHERE bank_id = %(bank)s
