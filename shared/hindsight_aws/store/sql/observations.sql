-- lock_fact_documents --
-- Keeps the documents of these facts from change; documents come before facts in the global lock order.
SELECT d.document_id
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s
  AND d.document_id IN (SELECT f.document_id FROM memory_units f
                        WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s AND f.id = ANY(%(fact_ids)s::uuid[]))
ORDER BY d.document_id
FOR SHARE

-- evidence_of --
-- The facts that these observations rest on.
SELECT DISTINCT e.fact_id
FROM observation_evidence e
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = ANY(%(ids)s::uuid[])

-- lock_facts --
-- Keeps these facts from change, in id order, and says what versions they have.
SELECT id, version
FROM memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND id = ANY(%(fact_ids)s::uuid[]) AND fact_type <> 'observation'
ORDER BY id
FOR SHARE

-- lock_observations --
-- Keeps these observations of the exact scope from change, in id order.
SELECT id, terms
FROM memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s AND id = ANY(%(ids)s::uuid[])
ORDER BY id
FOR UPDATE

-- insert_observation --
-- A new observation of a scope; its dates and proof count follow from its evidence.
INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, embedding_model, tags, scope_id, proof_count, terms,
                          created_by, last_by)
SELECT %(tenant_id)s, %(bank_id)s, %(id)s, %(fact_type)s, %(text)s, %(embedding)s::halfvec(512), b.embedding_model, %(tags)s, %(scope_id)s,
       0, %(length)s, %(provenance)s, %(provenance)s
FROM banks b
WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s

-- rewrite_observation --
-- New wording for an observation; its tags stay those of its scope.
UPDATE memory_units
SET text = %(text)s, embedding = %(embedding)s::halfvec(512),
    embedding_model = (SELECT b.embedding_model FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s),
    terms = %(length)s, last_by = %(provenance)s, version = version + 1,
    updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND id = %(id)s

-- touch_observation --
-- Marks an observation that only gained evidence.
UPDATE memory_units
SET last_by = %(provenance)s, version = version + 1, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND id = %(id)s

-- add_evidence --
-- Facts that support an observation; a quote of the model's takes the place of the whole text.
INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin, run_id)
SELECT %(tenant_id)s, %(bank_id)s, %(id)s, piece.fact_id, piece.quote, piece.origin, %(run_id)s
FROM unnest(%(fact_ids)s::uuid[], %(quotes)s::text[], %(origins)s::text[]) AS piece (fact_id, quote, origin)
ORDER BY piece.fact_id
ON CONFLICT (tenant_id, bank_id, observation_id, fact_id) DO UPDATE
SET quote = excluded.quote, origin = excluded.origin, run_id = excluded.run_id
WHERE observation_evidence.origin = 'whole' AND excluded.origin = 'model'

-- move_evidence --
-- Hands the evidence of an observation that ends to its heir; says which facts the heir did not have.
INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin, run_id, created_at)
SELECT tenant_id, bank_id, %(heir)s, fact_id, quote, origin, run_id, created_at
FROM observation_evidence
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND observation_id = %(id)s
ORDER BY fact_id
ON CONFLICT DO NOTHING
RETURNING fact_id

-- delete_observation --
-- Ends an observation; its evidence and words go with it.
DELETE FROM memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND id = %(id)s AND fact_type IN ('observation', 'shadow')
RETURNING terms

-- settle_observation --
-- Proof count and dates of an observation from its evidence: first start, last end, last mention; placeholder years do not count.
UPDATE memory_units o
SET proof_count = known.proofs, event_date = coalesce(known.event_date, o.event_date, o.created_at),
    occurred_start = known.occurred_start, occurred_end = known.occurred_end,
    mentioned_at = coalesce(known.mentioned_at, o.mentioned_at, o.created_at)
FROM (
    SELECT count(*) AS proofs,
           min(f.event_date) FILTER (WHERE extract(year FROM f.event_date) NOT IN (1, 9999)) AS event_date,
           min(f.occurred_start) FILTER (WHERE extract(year FROM f.occurred_start) NOT IN (1, 9999)) AS occurred_start,
           max(f.occurred_end) FILTER (WHERE extract(year FROM f.occurred_end) NOT IN (1, 9999)) AS occurred_end,
           max(f.mentioned_at) FILTER (WHERE extract(year FROM f.mentioned_at) NOT IN (1, 9999)) AS mentioned_at
    FROM observation_evidence e
    JOIN memory_units f ON f.tenant_id = e.tenant_id AND f.bank_id = e.bank_id AND f.id = e.fact_id
    WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = %(id)s
) AS known
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.id = %(id)s

-- record_revision --
-- Keeps an observation as it now is: wording, dates, evidence with quotes, and who made it so.
WITH support AS (
    SELECT e.fact_id, e.quote, e.origin
    FROM observation_evidence e
    WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = %(id)s
), revision AS (
    INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text, tags, occurred_start,
                                       occurred_end, mentioned_at, evidence, added_fact_ids, merged_into, run_id, provenance, embedding,
                                       embedding_model)
    SELECT o.tenant_id, o.bank_id, %(revision_id)s, o.id, o.scope_id, %(kind)s::text, o.text, o.tags, o.occurred_start, o.occurred_end,
           o.mentioned_at,
           coalesce((SELECT jsonb_agg(jsonb_build_object('fact_id', fact_id, 'quote', quote, 'origin', origin) ORDER BY fact_id)
                     FROM support), '[]'),
           %(added)s::uuid[], %(merged_into)s::uuid, %(run_id)s::uuid, %(provenance)s,
           CASE WHEN %(kind)s::text IN ('create', 'rewrite', 'revert') THEN o.embedding END,
           CASE WHEN %(kind)s::text IN ('create', 'rewrite', 'revert') THEN o.embedding_model END
    FROM memory_units o
    WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s AND o.id = %(id)s
    RETURNING tenant_id, bank_id, revision_id
)
INSERT INTO revision_facts (tenant_id, bank_id, fact_id, revision_id)
SELECT r.tenant_id, r.bank_id, s.fact_id, r.revision_id FROM revision r CROSS JOIN support s ORDER BY s.fact_id

-- lock_work --
-- Keeps the work of a batch from change, in order, before some of it ends one way and some another.
SELECT w.work_id
FROM consolidation_work w
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = ANY(%(work_ids)s::uuid[])
ORDER BY w.work_id
FOR UPDATE

-- finish_work --
-- The outcome of facts in this scope.
UPDATE consolidation_work w
SET state = 'done', outcome = verdict.outcome, done_at = now(), run_id = %(run_id)s, error = NULL, requested = false,
    fact_version = (SELECT f.version FROM memory_units f
                    WHERE f.tenant_id = w.tenant_id AND f.bank_id = w.bank_id AND f.id = w.fact_id)
FROM unnest(%(work_ids)s::uuid[], %(outcomes)s::text[]) AS verdict (work_id, outcome)
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s AND w.work_id = verdict.work_id AND w.state = 'pending'

-- overlook_work --
-- Facts the answer left out: to be asked about again in smaller company, or alone when their delete was refused; or given up.
UPDATE consolidation_work
SET looks = greatest(looks, %(looks)s), attempts = greatest(attempts - 1, 0),
    refused_delete = refused_delete OR %(refused_delete)s,
    error = CASE WHEN calls >= %(most_calls)s THEN 'no answer said what becomes of it' ELSE error END,
    state = CASE WHEN calls >= %(most_calls)s THEN 'failed' ELSE state END,
    failed_at = CASE WHEN calls >= %(most_calls)s THEN now() ELSE failed_at END,
    revivals = revivals + (calls >= %(most_calls)s)::integer
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND work_id = ANY(%(work_ids)s::uuid[]) AND state = 'pending'

-- remember_policy --
-- The policy this scope's observations were written under, and the mission of them all.
UPDATE scopes SET policy_hash = %(policy_hash)s, brief_hash = %(brief_hash)s,
    unmeasured_since = CASE WHEN %(has_written)s::boolean THEN coalesce(unmeasured_since, now()) ELSE unmeasured_since END,
    unread_since = CASE WHEN %(has_written)s::boolean AND EXISTS (
        SELECT FROM mental_models m
        WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s AND (m.trigger ->> 'refresh_after_consolidation')::boolean)
        THEN coalesce(unread_since, now()) ELSE unread_since END
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND scope_id = %(scope_id)s

-- lock_resting_observations --
-- Every observation that rests on one of these facts, in whatever scope or in the one beside it, kept from change in id order.
SELECT o.id, o.scope_id, o.terms, o.fact_type
FROM memory_units o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s
  AND o.id IN (
      SELECT e.observation_id
      FROM observation_evidence e
      JOIN memory_units k ON k.tenant_id = e.tenant_id AND k.bank_id = e.bank_id AND k.id = e.observation_id
      JOIN scopes s ON s.tenant_id = k.tenant_id AND s.bank_id = k.bank_id AND s.scope_id = k.scope_id
      JOIN unnest(%(fact_ids)s::uuid[], %(scope_ids)s::uuid[]) AS leaving (fact_id, scope_id)
        ON leaving.fact_id = e.fact_id AND (leaving.scope_id IS NULL OR leaving.scope_id IN (s.scope_id, s.rebuilds))
      WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.fact_id = ANY(%(fact_ids)s::uuid[]))
ORDER BY o.id
FOR UPDATE

-- lock_touched_work --
-- The work of facts that leave or change, in whatever scope, and of the other facts behind observations that end, kept from change in order.
SELECT w.work_id
FROM consolidation_work w
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s
  AND w.work_id IN (
      SELECT k.work_id FROM consolidation_work k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.fact_id = ANY(%(fact_ids)s::uuid[])
      UNION ALL
      SELECT k.work_id
      FROM observation_evidence e
      JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id
      JOIN consolidation_work k
        ON k.tenant_id = e.tenant_id AND k.bank_id = e.bank_id AND k.fact_id = e.fact_id AND k.scope_id = o.scope_id
      WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = ANY(%(observation_ids)s::uuid[]))
ORDER BY w.work_id
FOR UPDATE

-- requeue_sources --
-- The other facts behind observations that end, pending again in those scopes.
UPDATE consolidation_work w
SET {{clean_slate}}, due_at = now()
FROM observation_evidence e
JOIN memory_units o ON o.tenant_id = e.tenant_id AND o.bank_id = e.bank_id AND o.id = e.observation_id
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s AND e.observation_id = ANY(%(observation_ids)s::uuid[])
  AND w.tenant_id = e.tenant_id AND w.bank_id = e.bank_id AND w.fact_id = e.fact_id AND w.scope_id = o.scope_id
RETURNING w.fact_id, w.scope_id

-- blank_revisions --
-- Takes the text and the quotes out of every revision that rested on one of these facts, in whatever scope or in the one beside it.
UPDATE observation_revisions r
SET text = NULL, embedding = NULL, embedding_model = NULL, blanked_at = now(),
    evidence = (SELECT coalesce(jsonb_agg(jsonb_build_object('fact_id', piece ->> 'fact_id', 'origin', piece ->> 'origin')), '[]')
                FROM jsonb_array_elements(r.evidence) AS piece)
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s AND r.blanked_at IS NULL
  AND r.revision_id IN (
      SELECT f.revision_id
      FROM revision_facts f
      JOIN observation_revisions k ON k.tenant_id = f.tenant_id AND k.bank_id = f.bank_id AND k.revision_id = f.revision_id
      LEFT JOIN scopes s ON s.tenant_id = k.tenant_id AND s.bank_id = k.bank_id AND s.scope_id = k.scope_id
      JOIN unnest(%(fact_ids)s::uuid[], %(scope_ids)s::uuid[]) AS leaving (fact_id, scope_id)
        ON leaving.fact_id = f.fact_id AND (leaving.scope_id IS NULL OR leaving.scope_id IN (s.scope_id, s.rebuilds))
      WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s AND f.fact_id = ANY(%(fact_ids)s::uuid[]))

-- revisions --
-- Every change of an observation, oldest first.
SELECT r.kind, r.text, r.tags, r.occurred_start, r.occurred_end, r.mentioned_at, r.changed_at, r.added_fact_ids,
       r.merged_into, r.provenance,
       ARRAY(SELECT (piece ->> 'fact_id')::uuid FROM jsonb_array_elements(r.evidence) AS piece) AS source_ids
FROM observation_revisions AS r
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s AND r.observation_id = %(observation_id)s
ORDER BY r.sequence

-- revision_sources --
-- Facts that revisions rested on, as far as they are still there and in sight.
SELECT f.id, f.fact_type, f.text, f.context, f.occurred_start, f.mentioned_at
FROM memory_units AS f
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s AND f.id = ANY (%(ids)s::uuid[])
  AND f.fact_type = ANY (%(fact_types)s::text[])
  AND (%(any_of)s::text[] IS NULL OR f.tags && %(any_of)s::text[])
  AND (%(predicate)s::jsonpath IS NULL
       OR jsonb_path_match(to_jsonb(f.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))

-- break_seals --
-- Deletes sealed generations that rest on one of these facts: what is deleted is gone from there too.
DELETE FROM sealed_generations
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s AND fact_ids && %(fact_ids)s::uuid[]
