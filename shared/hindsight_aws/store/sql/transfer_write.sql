-- write_documents --
-- Documents.
INSERT INTO documents
    (tenant_id, bank_id, document_id, external_id, original_text, text_length, content_hash, retain_params, tags, version, file_original_name,
     file_content_type, created_at, updated_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.document_id, r.external_id, r.original_text, r.text_length, r.content_hash, r.retain_params, r.tags, r.version,
       r.file_original_name, r.file_content_type, r.created_at, r.updated_at
FROM jsonb_populate_recordset(NULL::documents, %(rows)s::jsonb) AS r
ORDER BY r.document_id

-- write_chunks --
-- Chunks of documents.
INSERT INTO chunks
    (tenant_id, bank_id, document_id, chunk_index, chunk_text, content_hash, extraction, extraction_key, part, fingerprint, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.document_id, r.chunk_index, r.chunk_text, r.content_hash, r.extraction, r.extraction_key, r.part, r.fingerprint, r.created_at
FROM jsonb_populate_recordset(NULL::chunks, %(rows)s::jsonb) AS r
ORDER BY r.document_id, r.chunk_index

-- write_scopes --
-- Scopes, out of reach of workers until the bank is whole.
INSERT INTO scopes
    (tenant_id, bank_id, scope_id, scope_key, tags, policy_hash, brief_hash, rebuilt_at, unmeasured_since, unread_since, created_at, lease_until)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.scope_id, r.scope_key, r.tags, r.policy_hash, r.brief_hash, r.rebuilt_at, r.unmeasured_since, r.unread_since, r.created_at,
       'infinity'
FROM jsonb_populate_recordset(NULL::scopes, %(rows)s::jsonb) AS r
ORDER BY r.scope_key

-- write_entities --
-- Entities.
INSERT INTO entities
    (tenant_id, bank_id, entity_id, canonical_name, name_key, kind, mention_count, first_seen, last_seen, words, last_dated)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.entity_id, r.canonical_name, r.name_key, r.kind, r.mention_count, r.first_seen, r.last_seen, r.words, r.last_dated
FROM jsonb_populate_recordset(NULL::entities, %(rows)s::jsonb) AS r
ORDER BY r.name_key

-- write_entity_keys --
-- What names that are like an entity's find it by.
INSERT INTO entity_keys
    (tenant_id, bank_id, key, entity_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.key, r.entity_id
FROM jsonb_populate_recordset(NULL::entity_keys, %(rows)s::jsonb) AS r
ORDER BY r.key, r.entity_id

-- write_entity_spellings --
-- Other names of entities.
INSERT INTO entity_spellings
    (tenant_id, bank_id, spelling_key, entity_id, spelling, rule, score, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.spelling_key, r.entity_id, r.spelling, r.rule, r.score, r.created_at
FROM jsonb_populate_recordset(NULL::entity_spellings, %(rows)s::jsonb) AS r
ORDER BY r.spelling_key

-- write_entity_cooccurrences --
-- Which entities are named together; the order of the two follows from their ids, which are new.
INSERT INTO entity_cooccurrences
    (tenant_id, bank_id, entity_id_1, entity_id_2, cooccurrences, last_cooccurred)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       least(r.entity_id_1, r.entity_id_2), greatest(r.entity_id_1, r.entity_id_2), r.cooccurrences, r.last_cooccurred
FROM jsonb_populate_recordset(NULL::entity_cooccurrences, %(rows)s::jsonb) AS r
ORDER BY 2, 3

-- write_memories --
-- Memories; the vectors stand in the same order as the rows.
INSERT INTO memory_units
    (tenant_id, bank_id, id, fact_type, document_id, chunk_index, ordinal, text, context, embedding_model, event_date, occurred_start, occurred_end,
     mentioned_at, metadata, tags, observation_scopes, scope_id, proof_count, version, terms, created_by, last_by, edited_at, created_at,
     updated_at, embedding)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.id, r.fact_type, r.document_id, r.chunk_index, r.ordinal, r.text, r.context, r.embedding_model, r.event_date, r.occurred_start,
       r.occurred_end, r.mentioned_at, r.metadata, r.tags, r.observation_scopes, r.scope_id, r.proof_count, r.version, r.terms,
       r.created_by, r.last_by, r.edited_at, r.created_at, r.updated_at, r."unnest"
FROM ROWS FROM (jsonb_populate_recordset(NULL::memory_units, %(rows)s::jsonb), unnest(%(vectors)b::halfvec[])) AS r

-- write_mentions --
-- Which memories name which entities.
INSERT INTO unit_entities
    (tenant_id, bank_id, unit_id, entity_id, linked_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.unit_id, r.entity_id, r.linked_at
FROM jsonb_populate_recordset(NULL::unit_entities, %(rows)s::jsonb) AS r
ORDER BY r.unit_id, r.entity_id

-- write_invalidated --
-- Facts that are out of use; the vectors stand in the same order as the rows.
INSERT INTO invalidated_memory_units
    (tenant_id, bank_id, id, fact_type, document_id, chunk_index, ordinal, text, context, event_date, occurred_start, occurred_end, mentioned_at, metadata,
     tags, observation_scopes, version, entity_ids, causal_links, reason, edited_at, created_at, updated_at, invalidated_at,
     embedding_model, embedding)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.id, r.fact_type, r.document_id, r.chunk_index, r.ordinal, r.text, r.context, r.event_date, r.occurred_start, r.occurred_end,
       r.mentioned_at, r.metadata, r.tags, r.observation_scopes, r.version, r.entity_ids, r.causal_links, r.reason, r.edited_at,
       r.created_at, r.updated_at, r.invalidated_at, r.embedding_model, r."unnest"
FROM ROWS FROM (jsonb_populate_recordset(NULL::invalidated_memory_units, %(rows)s::jsonb), unnest(%(vectors)b::halfvec[])) AS r

-- write_links --
-- Links between memories.
INSERT INTO memory_links
    (tenant_id, bank_id, from_unit, to_unit, link_type, weight, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.from_unit, r.to_unit, r.link_type, r.weight, r.created_at
FROM jsonb_populate_recordset(NULL::memory_links, %(rows)s::jsonb) AS r
ORDER BY r.from_unit, r.to_unit, r.link_type

-- write_link_queue --
-- What is left to do about links.
INSERT INTO link_maintenance
    (tenant_id, bank_id, entry_id, item_id, kind, due_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.entry_id, r.item_id, r.kind, r.due_at
FROM jsonb_populate_recordset(NULL::link_maintenance, %(rows)s::jsonb) AS r
ORDER BY r.entry_id

-- write_evidence --
-- What observations rest on.
INSERT INTO observation_evidence
    (tenant_id, bank_id, observation_id, fact_id, quote, origin, run_id, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.observation_id, r.fact_id, r.quote, r.origin, r.run_id, r.created_at
FROM jsonb_populate_recordset(NULL::observation_evidence, %(rows)s::jsonb) AS r
ORDER BY r.observation_id, r.fact_id

-- write_near_duplicates --
-- Pairs of observations near each other; the order of the two follows from their ids, which are new.
INSERT INTO near_duplicates
    (tenant_id, bank_id, first_id, second_id, scope_id, similarity, digest, is_kept_apart, found_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       least(r.first_id, r.second_id), greatest(r.first_id, r.second_id), r.scope_id, r.similarity, r.digest, r.is_kept_apart, r.found_at
FROM jsonb_populate_recordset(NULL::near_duplicates, %(rows)s::jsonb) AS r
ORDER BY 2, 3

-- write_work --
-- How facts stand in their scopes.
INSERT INTO consolidation_work
    (tenant_id, bank_id, work_id, fact_id, scope_id, state, outcome, error, attempts, looks, refused_delete, deferrals, revivals, requested, due_at, run_id,
     created_at, done_at, failed_at, fact_version, calls)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.work_id, r.fact_id, r.scope_id, r.state, r.outcome, r.error, r.attempts, r.looks, r.refused_delete, r.deferrals, r.revivals,
       r.requested, r.due_at, r.run_id, r.created_at, r.done_at, r.failed_at, r.fact_version, r.calls
FROM jsonb_populate_recordset(NULL::consolidation_work, %(rows)s::jsonb) AS r
ORDER BY r.work_id

-- write_runs --
-- Runs of consolidation, in their order.
INSERT INTO consolidation_runs
    (tenant_id, bank_id, run_id, scope_id, fence, policy_hash, strategy_index, strategy_name, prompt, model_id, status, counts, started_at, finished_at,
     reverted_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.run_id, r.scope_id, r.fence, r.policy_hash, r.strategy_index, r.strategy_name, r.prompt, r.model_id, r.status, r.counts,
       r.started_at, r.finished_at, r.reverted_at
FROM jsonb_populate_recordset(NULL::consolidation_runs, %(rows)s::jsonb) AS r

-- write_revisions --
-- Revisions of observations, in their order; the vectors stand in the same order as the rows.
INSERT INTO observation_revisions
    (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text, tags, occurred_start, occurred_end, mentioned_at, evidence, added_fact_ids,
     merged_into, run_id, provenance, changed_at, blanked_at, embedding_model, embedding)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.revision_id, r.observation_id, r.scope_id, r.kind, r.text, r.tags, r.occurred_start, r.occurred_end, r.mentioned_at, r.evidence,
       r.added_fact_ids, r.merged_into, r.run_id, r.provenance, r.changed_at, r.blanked_at, r.embedding_model, r."unnest"
FROM ROWS FROM (jsonb_populate_recordset(NULL::observation_revisions, %(rows)s::jsonb), unnest(%(vectors)b::halfvec[])) AS r

-- write_revision_facts --
-- Which facts revisions rested on.
INSERT INTO revision_facts
    (tenant_id, bank_id, fact_id, revision_id)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.fact_id, r.revision_id
FROM jsonb_populate_recordset(NULL::revision_facts, %(rows)s::jsonb) AS r
ORDER BY r.fact_id, r.revision_id

-- write_document_revisions --
-- The history of documents.
INSERT INTO document_revisions
    (tenant_id, bank_id, document_id, revision_id, kind, facts_added, facts_removed, detail, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.document_id, r.revision_id, r.kind, r.facts_added, r.facts_removed, r.detail, r.created_at
FROM jsonb_populate_recordset(NULL::document_revisions, %(rows)s::jsonb) AS r
ORDER BY r.document_id, r.revision_id

-- write_mental_models --
-- Mental models, out of reach of their schedules until the bank is whole; a predicate must be one that Postgres can read.
INSERT INTO mental_models
    (tenant_id, bank_id, page_id, model_id, name, source_query, content, structure, embedding_model, tags, max_tokens, trigger, creator, sight_types,
     sight_scopes, scope_types, scope_predicate, scope_variables, stale_predicate, stale_variables, response, version, written_query,
     is_paused, last_refreshed_at, last_full_refreshed_at, last_memory_seen_at, last_refresh_failed_at, due_at, mend_at, created_at,
     updated_at, embedding)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.page_id, r.model_id, r.name, r.source_query, r.content, r.structure, r.embedding_model, r.tags, r.max_tokens, r.trigger,
       r.creator, r.sight_types, r.sight_scopes, r.scope_types,
       CASE WHEN r.scope_predicate::jsonpath IS NOT NULL THEN r.scope_predicate END, r.scope_variables,
       CASE WHEN r.stale_predicate::jsonpath IS NOT NULL THEN r.stale_predicate END, r.stale_variables, r.response, r.version,
       r.written_query, r.is_paused, r.last_refreshed_at, r.last_full_refreshed_at, r.last_memory_seen_at, r.last_refresh_failed_at,
       r.due_at + interval '365000 days', 'infinity', r.created_at, r.updated_at, r."unnest"
FROM ROWS FROM (jsonb_populate_recordset(NULL::mental_models, %(rows)s::jsonb), unnest(%(vectors)b::halfvec[])) AS r

-- write_mental_model_citations --
-- What mental models rest on.
INSERT INTO mental_model_citations
    (tenant_id, bank_id, page_id, version, cited_id, memory_id, kind, text)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.page_id, r.version, r.cited_id, r.memory_id, r.kind, r.text
FROM jsonb_populate_recordset(NULL::mental_model_citations, %(rows)s::jsonb) AS r
ORDER BY r.page_id, r.version, r.cited_id

-- write_mental_model_revisions --
-- The history of mental models, in its order.
INSERT INTO mental_model_revisions
    (tenant_id, bank_id, page_id, revision_id, kind, version, content, response, outcome, failure_reason, error_message, changed_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.page_id, r.revision_id, r.kind, r.version, r.content, r.response, r.outcome, r.failure_reason, r.error_message, r.changed_at
FROM jsonb_populate_recordset(NULL::mental_model_revisions, %(rows)s::jsonb) AS r

-- write_knowledge_pages --
-- Folders and pages.
INSERT INTO knowledge_pages
    (tenant_id, bank_id, node_id, parent_id, kind, name, page_id, named_by, created_at, named_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.node_id, r.parent_id, r.kind, r.name, r.page_id, r.named_by, r.created_at, r.named_at
FROM jsonb_populate_recordset(NULL::knowledge_pages, %(rows)s::jsonb) AS r
ORDER BY r.node_id

-- write_directives --
-- Directives.
INSERT INTO directives
    (tenant_id, bank_id, directive_id, name, content, priority, is_active, tags, created_at, updated_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.directive_id, r.name, r.content, r.priority, r.is_active, r.tags, r.created_at, r.updated_at
FROM jsonb_populate_recordset(NULL::directives, %(rows)s::jsonb) AS r
ORDER BY r.directive_id

-- write_webhooks --
-- Webhooks; what they are told of begins now.
INSERT INTO webhooks
    (tenant_id, bank_id, webhook_id, url, event_types, is_enabled, method, timeout_seconds, params, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid,
       r.webhook_id, r.url, r.event_types, r.is_enabled, r.method, r.timeout_seconds, r.params, r.created_at
FROM jsonb_populate_recordset(NULL::webhooks, %(rows)s::jsonb) AS r
ORDER BY r.webhook_id
