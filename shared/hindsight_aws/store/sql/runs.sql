-- page --
-- Runs of scopes that pass the tag filter, newest first, with how many there are.
WITH wanted AS MATERIALIZED (
    SELECT r.run_id, r.sequence, s.tags
    FROM consolidation_runs AS r
    JOIN scopes AS s ON s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.scope_id = r.scope_id AND s.rebuilds IS NULL
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid
      AND (%(status)s::text IS NULL OR r.status = %(status)s::text)
      AND (%(scope_tags)s::text[] IS NULL OR s.tags = %(scope_tags)s::text[])
      AND (%(any_of)s::text[] IS NULL OR s.tags && %(any_of)s::text[])
      AND (%(predicate)s::jsonpath IS NULL
           OR jsonb_path_match(to_jsonb(s.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
), page AS (
    SELECT w.run_id, w.sequence, w.tags FROM wanted AS w ORDER BY w.sequence DESC LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
)
SELECT (SELECT count(*) FROM wanted) AS total, p.tags, r.run_id, r.status, r.counts, r.policy_hash, r.strategy_index, r.strategy_name,
       r.prompt, r.model_id, r.started_at, r.finished_at, r.reverted_at, r.sealed_at IS NOT NULL AS is_sealed
FROM (SELECT) AS one
LEFT JOIN page AS p ON true
LEFT JOIN consolidation_runs AS r ON r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = p.run_id
ORDER BY p.sequence DESC

-- run --
-- A run with the scope it worked on.
SELECT r.scope_id, r.status, r.sealed_at IS NOT NULL AS is_sealed, r.reverted_at IS NOT NULL AS is_reverted,
       EXISTS (SELECT FROM scopes shadow
               WHERE shadow.tenant_id = s.tenant_id AND shadow.bank_id = s.bank_id AND shadow.rebuilds = s.scope_id) AS is_rebuilding
FROM consolidation_runs r
JOIN scopes s ON s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.scope_id = r.scope_id AND s.rebuilds IS NULL
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = %(run_id)s::uuid

-- touched --
-- The observations a run wrote a revision of, as they were before it, and who changed them since; what was undone does not count.
WITH mine AS (
    SELECT r.observation_id, min(r.sequence) AS first, max(r.sequence) AS last
    FROM observation_revisions r
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.run_id = %(run_id)s::uuid
    GROUP BY r.observation_id
), standing AS (
    SELECT r.*
    FROM observation_revisions r
    LEFT JOIN consolidation_runs k ON k.tenant_id = r.tenant_id AND k.bank_id = r.bank_id AND k.run_id = r.run_id
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.observation_id IN (SELECT m.observation_id FROM mine m)
      AND k.reverted_at IS NULL AND NOT r.provenance ? 'reverts'
)
SELECT m.observation_id, before.text, before.evidence, before.provenance AS last_by, origin.provenance AS created_by, origin.changed_at AS created_at,
       before.revision_id IS NOT NULL AS was_there, before.blanked_at IS NOT NULL AS is_blanked, o.id IS NOT NULL AS is_there,
       (SELECT max(r.sequence) FROM observation_revisions r
        WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.observation_id = m.observation_id) AS version,
       ARRAY(SELECT e.run_id FROM standing e WHERE e.observation_id = m.observation_id AND e.sequence > m.last AND e.run_id IS NOT NULL
             ORDER BY e.sequence) AS later_runs,
       EXISTS (SELECT FROM standing e WHERE e.observation_id = m.observation_id AND e.sequence > m.last AND e.run_id IS NULL)
           AS is_changed_otherwise
FROM mine m
LEFT JOIN LATERAL (
    SELECT e.* FROM standing e WHERE e.observation_id = m.observation_id AND e.sequence < m.first ORDER BY e.sequence DESC LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT e.provenance, e.changed_at FROM standing e WHERE e.observation_id = m.observation_id ORDER BY e.sequence LIMIT 1
) AS origin ON true
LEFT JOIN memory_units o ON o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.id = m.observation_id
ORDER BY m.observation_id

-- twins --
-- Who last changed observations of the scope that say one of these texts, but for blanks.
SELECT DISTINCT o.last_by ->> 'run_id' AS run_id
FROM memory_units o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.scope_id = %(scope_id)s::uuid
  AND o.id <> ALL (%(touched)s::uuid[]) AND o.last_by ->> 'run_id' IS NOT NULL
  AND btrim(regexp_replace(o.text, '\s+', ' ', 'g')) = ANY (%(texts)s::text[])

-- put_back --
-- An observation that a run ended, there again; its dates and proof count follow from its evidence.
INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, embedding_model, tags, scope_id, proof_count, terms,
                          created_by, last_by, created_at)
SELECT %(tenant_id)s, %(bank_id)s::uuid, %(id)s::uuid, 'observation', %(text)s, %(embedding)s::halfvec(512), b.embedding_model,
       %(tags)s, %(scope_id)s::uuid, 0, %(length)s, %(created_by)s, %(last_by)s, %(created_at)s
FROM banks b
WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid

-- take_evidence --
-- Takes all evidence away from an observation, before what it had takes its place.
DELETE FROM observation_evidence
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND observation_id = %(id)s::uuid

-- evidence_facts --
-- The facts that these observations rest on now.
SELECT DISTINCT e.fact_id
FROM observation_evidence e
WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.observation_id = ANY (%(ids)s::uuid[])

-- reopen_work --
-- Facts that a run is through with are pending again; held back until somebody asks, unless they are to be tried at once.
WITH locked AS MATERIALIZED (
    SELECT k.work_id FROM consolidation_work k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.run_id = %(run_id)s::uuid AND k.state = 'done'
    ORDER BY k.work_id
    FOR UPDATE
)
UPDATE consolidation_work w
SET {{clean_slate}}, run_id = NULL, requested = w.requested OR %(retry)s::boolean,
    due_at = CASE WHEN %(retry)s::boolean THEN now() ELSE 'infinity' END
FROM locked h
WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.work_id = h.work_id

-- mark_reverted --
-- Notes that what a run did was undone.
UPDATE consolidation_runs SET reverted_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND run_id = %(run_id)s::uuid
