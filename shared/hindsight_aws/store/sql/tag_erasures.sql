-- operations --
-- Work accepted before an erasure that holds an item with its tags.
SELECT o.operation_id AS id FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.created_at <= %(started_at)s::timestamptz
  AND o.payload <> '{}'
  AND (EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(o.payload -> 'documents') WHEN 'array' THEN o.payload -> 'documents'
                                                ELSE '[]' END) AS document
               CROSS JOIN jsonb_array_elements(document -> 'parts') AS item WHERE {{item_carries}})
       OR EXISTS (SELECT FROM (SELECT o.payload AS item WHERE o.kind = 'file_convert_retain') AS file WHERE {{item_carries}}))
ORDER BY o.operation_id LIMIT %(at_most)s::integer

-- archives --
-- Transfers begun before the erasure, and imports that wait to be: an archive holds all of its bank.
SELECT o.operation_id AS id FROM operations o
LEFT JOIN transfers t ON t.tenant_id = o.tenant_id AND t.bank_id = o.bank_id AND t.operation_id = o.operation_id
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.created_at <= %(started_at)s::timestamptz
  AND (t.operation_id IS NOT NULL OR o.kind IN ('import_bank', 'import_documents'))
ORDER BY o.operation_id LIMIT %(at_most)s::integer

-- archive_of --
-- The archive of a transfer; of one that no worker has begun, the operation alone says where it is.
SELECT DISTINCT kept.archive_key FROM (
    SELECT o.payload ->> 'archive_key' AS archive_key FROM operations o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(id)s::uuid
    UNION ALL
    SELECT t.archive_key FROM transfers t
    WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid AND t.operation_id = %(id)s::uuid) AS kept
WHERE kept.archive_key IS NOT NULL

-- documents --
-- Documents that carry the tags, or hold an item or a fact that does, but for those given a new text since.
SELECT d.document_id AS id FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.created_at <= %(started_at)s::timestamptz
  AND ({{d_carries}}
       OR EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(d.retain_params -> 'parts') WHEN 'array' THEN d.retain_params -> 'parts'
                                                   ELSE '[]' END) AS item WHERE {{item_carries}})
       OR d.document_id IN (SELECT u.document_id FROM (
              SELECT k.document_id, k.tags FROM unit_tags t
              JOIN memory_units k ON k.tenant_id = t.tenant_id AND k.bank_id = t.bank_id AND k.id = t.unit_id
              WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid AND t.tag = ANY (%(tags)s::text[])
              UNION ALL
              SELECT i.document_id, i.tags FROM invalidated_memory_units i
              WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid) AS u
          WHERE u.document_id IS NOT NULL
            AND CASE WHEN %(all_of)s::boolean THEN u.tags @> %(tags)s::text[] ELSE u.tags && %(tags)s::text[] END))
  AND NOT EXISTS (SELECT FROM document_revisions r
                  JOIN operations o ON o.tenant_id = r.tenant_id AND o.operation_id = r.operation_id
                  WHERE r.tenant_id = d.tenant_id AND r.bank_id = d.bank_id AND r.document_id = d.document_id AND r.kind = 'retain'
                    AND o.created_at > %(started_at)s::timestamptz)
ORDER BY d.document_id LIMIT %(at_most)s::integer

-- facts --
-- Facts without a document that carry the tags.
SELECT d.id FROM unit_tags t
JOIN memory_units d ON d.tenant_id = t.tenant_id AND d.bank_id = t.bank_id AND d.id = t.unit_id
WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid AND t.tag = ANY (%(tags)s::text[])
  AND d.document_id IS NULL AND d.fact_type IN ('world', 'experience') AND d.created_at <= %(started_at)s::timestamptz AND {{d_carries}}
GROUP BY d.id ORDER BY d.id LIMIT %(at_most)s::integer

-- invalidated --
-- Facts out of use, without a document, that carry the tags.
SELECT d.id FROM invalidated_memory_units d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id IS NULL
  AND d.created_at <= %(started_at)s::timestamptz AND {{d_carries}}
ORDER BY d.id LIMIT %(at_most)s::integer

-- scopes --
-- Scopes that carry the tags and have something from before the erasure.
SELECT d.scope_id AS id FROM scopes d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.created_at <= %(started_at)s::timestamptz AND {{d_carries}}
  AND (EXISTS (SELECT FROM memory_units u WHERE u.tenant_id = d.tenant_id AND u.bank_id = d.bank_id AND u.scope_id = d.scope_id
               AND u.created_at <= %(started_at)s::timestamptz)
       OR EXISTS (SELECT FROM observation_revisions r WHERE r.tenant_id = d.tenant_id AND r.bank_id = d.bank_id
                  AND r.scope_id = d.scope_id AND r.changed_at <= %(started_at)s::timestamptz)
       OR NOT EXISTS (SELECT FROM consolidation_work w
                      JOIN memory_units f ON f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id
                      WHERE w.tenant_id = d.tenant_id AND w.bank_id = d.bank_id AND w.scope_id = d.scope_id
                        AND f.created_at > %(started_at)s::timestamptz))
ORDER BY d.scope_id LIMIT %(at_most)s::integer

-- directives --
-- Directives that carry the tags.
SELECT d.directive_id AS id FROM directives d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.created_at <= %(started_at)s::timestamptz AND {{d_carries}}
ORDER BY d.directive_id LIMIT %(at_most)s::integer

-- pages --
-- Mental models that carry the tags.
SELECT d.page_id AS id FROM mental_models d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.created_at <= %(started_at)s::timestamptz AND {{d_carries}}
ORDER BY d.page_id LIMIT %(at_most)s::integer

-- runs --
-- Reflect runs that ended and were begun before the erasure did.
SELECT r.run_id AS id FROM reflect_runs r
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.created_at <= %(started_at)s::timestamptz AND r.ended_at IS NOT NULL
ORDER BY r.run_id LIMIT %(at_most)s::integer

-- runs_going_on --
-- Whether a reflect run from before the erasure still goes on: what it read may still be written.
SELECT EXISTS (SELECT FROM reflect_runs r
               WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.status = 'running'
                 AND r.created_at <= %(started_at)s::timestamptz) AS going_on

-- cited --
-- Mental models with a text, now or before, that rests on what is gone.
SELECT DISTINCT c.page_id AS id FROM mental_model_citations c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.memory_id IS NULL
  AND (c.text IS NOT NULL
       OR EXISTS (SELECT FROM mental_models m WHERE m.tenant_id = c.tenant_id AND m.bank_id = c.bank_id AND m.page_id = c.page_id
                  AND m.version = c.version AND m.content <> '')
       OR EXISTS (SELECT FROM mental_model_revisions r WHERE r.tenant_id = c.tenant_id AND r.bank_id = c.bank_id
                  AND r.page_id = c.page_id AND r.version = c.version AND (r.content IS NOT NULL OR r.response IS NOT NULL)))
ORDER BY c.page_id LIMIT %(at_most)s::integer

-- names --
-- Entities that nothing mentions any more.
SELECT e.entity_id AS id FROM entities e
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
  AND NOT EXISTS (SELECT FROM unit_entities x WHERE x.tenant_id = e.tenant_id AND x.bank_id = e.bank_id AND x.entity_id = e.entity_id)
  AND e.entity_id NOT IN (SELECT unnest(i.entity_ids) FROM invalidated_memory_units i
                          WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid)
ORDER BY e.entity_id LIMIT %(at_most)s::integer

-- lock_operation --
-- An operation with its payload, kept from others.
SELECT o.operation_id, o.kind, o.status, o.payload, o.document_ids, o.parent_id FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(id)s::uuid
FOR UPDATE

-- waiting_of_operation --
-- How many deliveries of what is to be told of an operation wait.
SELECT count(*) AS waiting FROM webhook_deliveries d
JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.bank_id = d.bank_id AND e.event_id = d.event_id
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND e.operation_id = %(id)s::uuid AND d.status = 'pending'

-- end_operation --
-- Removes an operation, its kept answers and what hooks were to be told of it.
DELETE FROM operations WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(id)s::uuid

-- drop_uploads --
-- Removes the uploads that an operation retains.
DELETE FROM uploads WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(id)s::uuid
RETURNING object_key

-- drop_unheld_files --
-- Removes the kept files of an operation that no document holds.
DELETE FROM kept_files
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id IS NULL
  AND (operation_id = %(id)s::uuid OR retain_operation_id IN (%(id)s::uuid, %(parent_id)s::uuid))
RETURNING object_key

-- kept_of_document --
-- The kept files that a document holds.
SELECT file_id FROM kept_files
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND document_id = %(id)s::uuid

-- drop_kept_files --
-- Removes kept files whose document was removed.
DELETE FROM kept_files
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND file_id = ANY (%(ids)s::uuid[]) AND document_id IS NULL
RETURNING object_key

-- end_childless_parent --
-- Removes a parent operation that has no child left.
DELETE FROM operations p
WHERE p.tenant_id = %(tenant_id)s AND p.bank_id = %(bank_id)s::uuid AND p.operation_id = %(id)s::uuid
  AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = p.tenant_id AND c.bank_id = p.bank_id AND c.parent_id = p.operation_id)

-- lock_operations_of --
-- The operations that wrote a document or name it, kept from others in id order.
SELECT o.operation_id, o.parent_id, o.status FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.created_at <= %(started_at)s::timestamptz
  AND (%(id)s::uuid = ANY (o.document_ids) OR o.document_id = %(id)s::uuid
       OR o.document_external_id = (SELECT d.external_id FROM documents d WHERE d.tenant_id = %(tenant_id)s
                                    AND d.bank_id = %(bank_id)s::uuid AND d.document_id = %(id)s::uuid)
       OR o.operation_id IN (SELECT r.operation_id FROM document_revisions r
                             WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.document_id = %(id)s::uuid))
ORDER BY o.operation_id
FOR UPDATE

-- still_writes --
-- Of these operations those that have something left to do, or wrote another document that is there.
SELECT o.operation_id FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = ANY (%(ids)s::uuid[])
  AND (o.status IN ('pending', 'processing')
       OR EXISTS (SELECT FROM documents d WHERE d.tenant_id = o.tenant_id AND d.bank_id = o.bank_id AND d.document_id = ANY (o.document_ids))
       OR EXISTS (SELECT FROM document_revisions r WHERE r.tenant_id = o.tenant_id AND r.bank_id = o.bank_id
                  AND r.operation_id = o.operation_id))

-- unname --
-- Takes the names of documents that are gone from operations that stay.
UPDATE operations SET document_external_id = NULL, document_id = NULL
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = ANY (%(ids)s::uuid[])
  AND document_external_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid
                  AND d.external_id = document_external_id)

-- facts_of_document --
-- The facts of a document.
SELECT u.id FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.document_id = %(id)s::uuid
ORDER BY u.id

-- waiting_of_facts --
-- How much consolidation of these facts waits.
SELECT count(*) AS waiting FROM consolidation_work w
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.fact_id = ANY (%(fact_ids)s::uuid[]) AND w.state = 'pending'

-- drop_revisions_of_facts --
-- Removes every revision that rested on one of these facts.
DELETE FROM observation_revisions r
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid
  AND r.revision_id IN (SELECT f.revision_id FROM revision_facts f
                        WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND f.fact_id = ANY (%(fact_ids)s::uuid[]))

-- invalidated_of_document --
-- The facts of a document that are out of use.
SELECT i.id FROM invalidated_memory_units i
WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.document_id = %(id)s::uuid
ORDER BY i.id

-- drop_invalidated --
-- Removes facts out of use.
DELETE FROM invalidated_memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND id = ANY (%(ids)s::uuid[])

-- lock_facts_of_scope --
-- The facts from before the erasure that are consolidated in a scope, kept from change in id order.
SELECT f.id FROM memory_units f
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND f.created_at <= %(started_at)s::timestamptz
  AND f.id IN (SELECT w.fact_id FROM consolidation_work w
               WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.scope_id = %(id)s::uuid)
ORDER BY f.id
FOR UPDATE

-- lock_scope --
-- A scope, kept from others: whoever drains it finds its lease gone.
UPDATE scopes SET fence = fence + 1, lease_until = '-infinity'
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND (scope_id = %(id)s::uuid OR rebuilds = %(id)s::uuid)

-- lock_observations --
-- What is believed in a scope since before the erasure, kept from change in id order.
SELECT u.id FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.scope_id = %(id)s::uuid
  AND u.created_at <= %(started_at)s::timestamptz
ORDER BY u.id
FOR UPDATE

-- drop_work --
-- Removes what is left to do in a scope, and what was done, for facts from before the erasure.
DELETE FROM consolidation_work w
USING (SELECT k.work_id FROM consolidation_work k
       JOIN memory_units f ON f.tenant_id = k.tenant_id AND f.bank_id = k.bank_id AND f.id = k.fact_id
       WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.scope_id = %(id)s::uuid
         AND f.created_at <= %(started_at)s::timestamptz
       ORDER BY k.work_id
       FOR UPDATE OF k) AS locked
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = locked.work_id
RETURNING w.state = 'pending' AS was_waiting

-- forget_scopes --
-- Takes scopes with the tags out of what was asked for facts that stay.
UPDATE memory_units u
SET observation_scopes = (SELECT coalesce(jsonb_agg(asked), '[]') FROM jsonb_array_elements(u.observation_scopes) AS asked
                          WHERE NOT CASE WHEN %(all_of)s::boolean THEN asked ?& %(tags)s::text[] ELSE asked ?| %(tags)s::text[] END)
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(fact_ids)s::uuid[])
  AND jsonb_typeof(u.observation_scopes) = 'array'

-- end_observations --
-- Removes what was believed; says how much of each type went, with how many terms.
WITH gone AS (
    DELETE FROM memory_units u
    WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])
    RETURNING u.fact_type, u.terms
)
SELECT g.fact_type, count(*) AS units, sum(g.terms)::bigint AS terms FROM gone g GROUP BY g.fact_type

-- drop_revisions_of_scope --
-- Removes the history of a scope from before the erasure.
DELETE FROM observation_revisions
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(id)s::uuid AND changed_at <= %(started_at)s::timestamptz

-- drop_seals --
-- Removes the sealed generations of a scope.
DELETE FROM sealed_generations WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND scope_id = %(id)s::uuid

-- drop_scope --
-- Removes a scope that nothing new is to be believed in.
DELETE FROM scopes s
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = %(id)s::uuid
  AND NOT EXISTS (SELECT FROM consolidation_work w WHERE w.tenant_id = s.tenant_id AND w.bank_id = s.bank_id AND w.scope_id = s.scope_id)
  AND NOT EXISTS (SELECT FROM memory_units u WHERE u.tenant_id = s.tenant_id AND u.bank_id = s.bank_id AND u.scope_id = s.scope_id)

-- drop_directives --
-- Removes directives.
DELETE FROM directives WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND directive_id = ANY (%(ids)s::uuid[])

-- drop_refreshes --
-- Removes the refreshes of mental models that go; says of each whether it waited.
DELETE FROM operations WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = ANY (%(ids)s::uuid[])
RETURNING status IN ('pending', 'processing') AS was_waiting

-- drop_pages --
-- Removes mental models with their history.
DELETE FROM mental_models WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = ANY (%(ids)s::uuid[])

-- drop_runs --
-- Removes reflect runs with their steps and answers.
DELETE FROM reflect_runs
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = ANY (%(ids)s::uuid[]) AND ended_at IS NOT NULL

-- lock_pages --
-- Mental models, kept from others in id order.
SELECT m.page_id FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = ANY (%(ids)s::uuid[])
ORDER BY m.page_id
FOR UPDATE

-- blank_pages --
-- Takes the text of mental models that rests on what is gone; it is written anew from what there is.
UPDATE mental_models m
SET content = '', structure = NULL, embedding = NULL, embedding_model = NULL, response = NULL, written_query = NULL, seen_snapshot = NULL,
    mend_at = '-infinity', updated_at = now()
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = ANY (%(ids)s::uuid[]) AND m.content <> ''
  AND EXISTS (SELECT FROM mental_model_citations c WHERE c.tenant_id = m.tenant_id AND c.bank_id = m.bank_id AND c.page_id = m.page_id
              AND c.version = m.version AND c.memory_id IS NULL)

-- blank_versions --
-- Takes the text of former versions of mental models that rests on what is gone.
UPDATE mental_model_revisions r SET content = NULL, response = NULL
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.page_id = ANY (%(ids)s::uuid[])
  AND (r.content IS NOT NULL OR r.response IS NOT NULL)
  AND EXISTS (SELECT FROM mental_model_citations c WHERE c.tenant_id = r.tenant_id AND c.bank_id = r.bank_id AND c.page_id = r.page_id
              AND c.version = r.version AND c.memory_id IS NULL)

-- blank_citations --
-- Of what is gone, mental models know no more than that.
UPDATE mental_model_citations c SET text = NULL
FROM (SELECT k.page_id, k.version, k.cited_id FROM mental_model_citations k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = ANY (%(ids)s::uuid[])
        AND k.memory_id IS NULL AND k.text IS NOT NULL
      ORDER BY k.cited_id, k.page_id, k.version FOR NO KEY UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = locked.page_id AND c.version = locked.version
  AND c.cited_id = locked.cited_id
