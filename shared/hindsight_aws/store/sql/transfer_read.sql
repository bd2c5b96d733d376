-- read_bank --
-- The bank itself; its settings as text, for JSON read and written again is not the same text.
SELECT jsonb_build_object('external_id', b.external_id, 'name', b.name, 'config', b.config::text)::text AS line
FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid

-- read_documents --
-- Documents by id.
SELECT (to_jsonb(d) - '{tenant_id,bank_id,lease_until,lease_holder,fence,is_pending}'::text[])::text AS line
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND NOT d.is_pending
  AND (%(document_ids)s::uuid[] IS NULL OR d.document_id = ANY (%(document_ids)s::uuid[]))
ORDER BY d.document_id

-- read_chunks --
-- Chunks with the extractions that were kept, by document.
SELECT (to_jsonb(c) - '{tenant_id,bank_id}'::text[])::text AS line
FROM chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid
  AND (%(document_ids)s::uuid[] IS NULL OR c.document_id = ANY (%(document_ids)s::uuid[]))
ORDER BY c.document_id, c.chunk_index

-- read_scopes --
-- Scopes; those in which a next generation is made are left out.
SELECT jsonb_build_object(
    'scope_id', s.scope_id, 'scope_key', s.scope_key, 'tags', s.tags, 'policy_hash', s.policy_hash, 'brief_hash', s.brief_hash,
    'rebuilt_at', s.rebuilt_at, 'unmeasured_since', s.unmeasured_since, 'unread_since', s.unread_since, 'created_at', s.created_at)::text AS line
FROM scopes s
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.rebuilds IS NULL
ORDER BY s.scope_id

-- read_entities --
-- Entities.
SELECT (to_jsonb(e) - '{tenant_id,bank_id}'::text[])::text AS line
FROM entities e WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
ORDER BY e.entity_id

-- read_entity_keys --
-- What names that are like an entity's find it by.
SELECT (to_jsonb(k) - '{tenant_id,bank_id}'::text[])::text AS line
FROM entity_keys k WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid
ORDER BY k.entity_id, k.key

-- read_entity_spellings --
-- Other names of entities.
SELECT (to_jsonb(s) - '{tenant_id,bank_id}'::text[])::text AS line
FROM entity_spellings s WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid
ORDER BY s.entity_id, s.spelling_key

-- read_entity_cooccurrences --
-- Which entities are named together.
SELECT (to_jsonb(o) - '{tenant_id,bank_id}'::text[])::text AS line
FROM entity_cooccurrences o WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid
ORDER BY o.entity_id_1, o.entity_id_2

-- read_memories --
-- Facts by document, then observations: with vectors, postings, the names of their entities, and what caused them.
SELECT (to_jsonb(u) - '{tenant_id,bank_id,embedding}'::text[] || jsonb_build_object(
    'vector', translate(encode(halfvec_send(u.embedding), 'base64'), E'\n', ''),
    'postings', (SELECT coalesce(jsonb_object_agg(t.term, t.tf), '{}') FROM unit_terms t
                 WHERE t.tenant_id = %(tenant_id)s AND t.unit_id = u.id AND t.bank_id = %(bank_id)s::uuid),
    'called', (SELECT coalesce(jsonb_agg(jsonb_build_array(e.canonical_name, e.kind) ORDER BY e.name_key), '[]')
               FROM unit_entities n
               JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.entity_id = n.entity_id
               WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND n.unit_id = u.id),
    'causes', (SELECT coalesce(jsonb_agg(l.to_unit ORDER BY l.to_unit), '[]') FROM memory_links l
               WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.from_unit = u.id AND l.link_type = 'caused_by')
    ))::text AS line
FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type <> 'shadow'
  AND (%(with_whole)s::boolean OR u.fact_type <> 'observation')
  AND (%(document_ids)s::uuid[] IS NULL OR u.document_id = ANY (%(document_ids)s::uuid[]))
ORDER BY u.document_id NULLS LAST, u.chunk_index, u.ordinal, u.id

-- read_mentions --
-- Which memories name which entities.
SELECT (to_jsonb(n) - '{tenant_id,bank_id}'::text[])::text AS line
FROM unit_entities n WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid
ORDER BY n.unit_id, n.entity_id

-- read_invalidated --
-- Facts that are out of use.
SELECT (to_jsonb(u) - '{tenant_id,bank_id,embedding}'::text[]
        || jsonb_build_object('vector', translate(encode(halfvec_send(u.embedding), 'base64'), E'\n', '')))::text AS line
FROM invalidated_memory_units u WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid
ORDER BY u.id

-- read_links --
-- Links between memories.
SELECT (to_jsonb(l) - '{tenant_id,bank_id}'::text[])::text AS line
FROM memory_links l WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid
ORDER BY l.from_unit, l.to_unit, l.link_type

-- read_link_queue --
-- What is left to do about links.
SELECT (to_jsonb(q) - '{tenant_id,bank_id}'::text[])::text AS line
FROM link_maintenance q WHERE q.tenant_id = %(tenant_id)s AND q.bank_id = %(bank_id)s::uuid
ORDER BY q.entry_id

-- read_evidence --
-- What observations rest on.
SELECT (to_jsonb(e) - '{tenant_id,bank_id}'::text[])::text AS line
FROM observation_evidence e
JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND o.fact_type = 'observation'
ORDER BY e.observation_id, e.fact_id

-- read_near_duplicates --
-- Pairs of observations that were found near each other, and those that are to stay apart.
SELECT (to_jsonb(n) - '{tenant_id,bank_id}'::text[])::text AS line
FROM near_duplicates n
JOIN scopes s ON s.tenant_id = n.tenant_id AND s.bank_id = n.bank_id AND s.scope_id = n.scope_id
WHERE n.tenant_id = %(tenant_id)s AND n.bank_id = %(bank_id)s::uuid AND s.rebuilds IS NULL
ORDER BY n.first_id, n.second_id

-- read_work --
-- How facts stand in their scopes; what is pending is carried as pending.
SELECT (to_jsonb(w) - '{tenant_id,bank_id,is_rebuild}'::text[] || jsonb_build_object('scope_key', s.scope_key))::text AS line
FROM consolidation_work w
LEFT JOIN scopes s ON s.tenant_id = w.tenant_id AND s.bank_id = w.bank_id AND s.scope_id = w.scope_id
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND NOT w.is_rebuild AND s.rebuilds IS NULL
ORDER BY w.work_id

-- read_runs --
-- Runs of consolidation in their order; those of a former generation, which is under seal, stay.
SELECT (to_jsonb(r) - '{tenant_id,bank_id,operation_id,sequence,sealed_at}'::text[])::text AS line
FROM consolidation_runs r
JOIN scopes s ON s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.scope_id = r.scope_id
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.sealed_at IS NULL AND s.rebuilds IS NULL
ORDER BY r.sequence

-- read_revisions --
-- Revisions of observations in their order, with the vectors of their wordings.
SELECT (to_jsonb(r) - '{tenant_id,bank_id,sequence,embedding}'::text[]
        || jsonb_build_object('vector', translate(encode(halfvec_send(r.embedding), 'base64'), E'\n', '')))::text AS line
FROM observation_revisions r
JOIN scopes s ON s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.scope_id = r.scope_id
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND s.rebuilds IS NULL
ORDER BY r.sequence

-- read_revision_facts --
-- Which facts revisions rested on.
SELECT (to_jsonb(f) - '{tenant_id,bank_id}'::text[])::text AS line
FROM revision_facts f
JOIN observation_revisions r ON r.tenant_id = f.tenant_id AND r.bank_id = f.bank_id AND r.revision_id = f.revision_id
JOIN scopes s ON s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.scope_id = r.scope_id
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND s.rebuilds IS NULL
ORDER BY f.revision_id, f.fact_id

-- read_document_revisions --
-- The history of documents.
SELECT (to_jsonb(r) - '{tenant_id,bank_id,operation_id}'::text[])::text AS line
FROM document_revisions r WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid
ORDER BY r.document_id, r.created_at, r.revision_id

-- read_mental_models --
-- Mental models.
SELECT (to_jsonb(m) - '{tenant_id,bank_id,embedding,seen_snapshot,mend_at}'::text[]
        || jsonb_build_object('vector', translate(encode(halfvec_send(m.embedding), 'base64'), E'\n', '')))::text AS line
FROM mental_models m WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid
ORDER BY m.page_id

-- read_mental_model_citations --
-- What mental models rest on; without history, their current versions.
SELECT (to_jsonb(c) - '{tenant_id,bank_id}'::text[])::text AS line
FROM mental_model_citations c
JOIN mental_models m ON m.tenant_id = c.tenant_id AND m.bank_id = c.bank_id AND m.page_id = c.page_id
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND (%(with_history)s::boolean OR c.version = m.version)
ORDER BY c.page_id, c.version, c.cited_id

-- read_mental_model_revisions --
-- The history of mental models in its order.
SELECT (to_jsonb(r) - '{tenant_id,bank_id,sequence}'::text[])::text AS line
FROM mental_model_revisions r WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid
ORDER BY r.sequence

-- read_knowledge_pages --
-- Folders and pages, those that hold others before what they hold.
WITH RECURSIVE placed AS (
    SELECT k.node_id, 0 AS depth FROM knowledge_pages k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.parent_id IS NULL
    UNION ALL
    SELECT k.node_id, p.depth + 1 FROM placed p
    JOIN knowledge_pages k ON k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.parent_id = p.node_id
)
SELECT (to_jsonb(k) - '{tenant_id,bank_id}'::text[])::text AS line
FROM placed p JOIN knowledge_pages k ON k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.node_id = p.node_id
ORDER BY p.depth, k.node_id

-- read_directives --
-- Directives.
SELECT (to_jsonb(d) - '{tenant_id,bank_id}'::text[])::text AS line
FROM directives d WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid
ORDER BY d.directive_id

-- read_webhooks --
-- Webhooks without what is a receiver's own business: the secret, and headers, which may hold a password.
SELECT jsonb_build_object(
    'webhook_id', w.webhook_id, 'url', w.url, 'event_types', w.event_types, 'method', w.method, 'timeout_seconds', w.timeout_seconds,
    'params', w.params, 'is_enabled', w.is_enabled AND w.secret IS NULL AND w.headers = '{}', 'created_at', w.created_at)::text AS line
FROM webhooks w WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid
ORDER BY w.webhook_id
