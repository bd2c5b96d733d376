-- begin --
-- Notes where an operation's archive is, unless an earlier attempt has.
INSERT INTO transfers (tenant_id, bank_id, operation_id, archive_key)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(operation_id)s::uuid, %(archive_key)s::text)
ON CONFLICT DO NOTHING

-- place --
-- How far a transfer is.
SELECT archive_key, is_offered, target_id, member, line, counts
FROM transfers WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid

-- move --
-- Notes how far a transfer is; the caller holds its operation.
UPDATE transfers
SET is_offered = %(is_offered)s::boolean, target_id = %(target_id)s::uuid, member = %(member)s::text, line = %(line)s::bigint,
    counts = %(counts)s::jsonb
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid

-- begin_again --
-- What a transfer has made is gone: it begins from the beginning, should it be tried again.
UPDATE transfers SET target_id = NULL, member = NULL, line = 0, counts = counts - ARRAY(SELECT jsonb_object_keys(counts - 'archived'))
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND operation_id = %(operation_id)s::uuid

-- archive_of --
-- Where the archive of a transfer is; of one that no worker has begun, the operation alone says it.
SELECT coalesce(t.archive_key, o.payload ->> 'archive_key') AS archive_key
FROM operations o
LEFT JOIN transfers t ON t.tenant_id = o.tenant_id AND t.bank_id = o.bank_id AND t.operation_id = o.operation_id
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.operation_id = %(operation_id)s::uuid
  AND coalesce(t.archive_key, o.payload ->> 'archive_key') IS NOT NULL

-- archive --
-- The archive under a key, with its bank, the file's name, and whether settings are in it, where it may be downloaded.
SELECT b.external_id AS bank, o.result ->> 'filename' AS filename,
       coalesce(o.result -> 'counts' ? 'bank', true) AS holds_settings
FROM transfers t
JOIN operations o ON o.tenant_id = t.tenant_id AND o.bank_id = t.bank_id AND o.operation_id = t.operation_id
JOIN banks b ON b.tenant_id = t.tenant_id AND b.bank_id = t.bank_id
WHERE t.tenant_id = %(tenant_id)s AND t.archive_key = %(archive_key)s::text AND t.is_offered AND o.status = 'completed'

-- is_taken --
-- Whether a bank or an alias has this name.
SELECT EXISTS (SELECT FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.external_id = %(external_id)s::text)
    OR EXISTS (SELECT FROM bank_aliases a WHERE a.tenant_id = %(tenant_id)s AND a.alias = %(external_id)s::text) AS is_taken

-- make_bank --
-- A bank in the making: no caller can name it, and while it has these settings and leases no worker works in it.
INSERT INTO banks (tenant_id, bank_id, external_id, embedding_model, config, link_lease_until, restored_in, restored_by)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(external_id)s::text, %(embedding_model)s::text,
        '{"enable_observations": false, "enable_auto_consolidation": false}', 'infinity', %(restored_in)s::uuid, %(restored_by)s::uuid)
ON CONFLICT DO NOTHING

-- hidden --
-- The bank that an operation is making.
SELECT bank_id FROM banks
WHERE tenant_id = %(tenant_id)s AND restored_in = %(restored_in)s::uuid AND restored_by = %(restored_by)s::uuid

-- open_scopes --
-- Gives the scopes of a bank that is whole to whoever works on them.
UPDATE scopes SET lease_until = '-infinity' WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- open_models --
-- Lets the mental models of a bank that is whole be looked at by their schedules, at the times they had.
UPDATE mental_models SET mend_at = '-infinity', due_at = due_at - interval '365000 days'
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- doubtful --
-- What an archive made believe and nothing bears out: an observation on nothing, a quote that its fact does not hold, folders in a ring.
WITH RECURSIVE placed AS (
    SELECT k.node_id, k.kind, 1 AS depth FROM knowledge_pages k
    WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.parent_id IS NULL
    UNION ALL
    SELECT k.node_id, k.kind, p.depth + 1 FROM placed p
    JOIN knowledge_pages k ON k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.parent_id = p.node_id
    WHERE p.kind = 'folder' AND p.depth <= %(deepest)s::integer
)
SELECT CASE
    WHEN (SELECT count(*) FROM placed) <> (SELECT count(*) FROM knowledge_pages k
                                           WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid)
        THEN 'the knowledge base is no tree, or lies too deep'
    WHEN EXISTS (SELECT FROM memory_units o
                 WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.fact_type = 'observation'
                   AND NOT EXISTS (SELECT FROM observation_evidence e
                                   WHERE e.tenant_id = o.tenant_id AND e.bank_id = o.bank_id AND e.observation_id = o.id))
        THEN 'an observation rests on no fact'
    WHEN EXISTS (SELECT FROM observation_evidence e
                 JOIN memory_units f ON f.tenant_id = e.tenant_id AND f.bank_id = e.bank_id AND f.id = e.fact_id
                 WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND strpos(f.text, e.quote) = 0)
        THEN 'a quote is not in its fact'
    WHEN EXISTS (SELECT FROM memory_units o
                 LEFT JOIN scopes s ON s.tenant_id = o.tenant_id AND s.bank_id = o.bank_id AND s.scope_id = o.scope_id
                 WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.fact_type = 'observation'
                   AND o.tags IS DISTINCT FROM s.tags)
        THEN 'an observation has other tags than its scope'
    END AS doubt

-- count_proofs --
-- How many facts each observation rests on is counted, not believed.
UPDATE memory_units o SET proof_count = counted.facts
FROM (SELECT e.observation_id, count(*) AS facts FROM observation_evidence e
      WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid GROUP BY e.observation_id) AS counted
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.id = counted.observation_id
  AND o.proof_count <> counted.facts

-- reveal --
-- A bank that is whole gets its name, unless a bank or an alias has it by now.
UPDATE banks AS b
SET external_id = %(external_id)s::text, name = %(name)s::text, config = %(config)s::json, embedding_model = %(embedding_model)s::text,
    last_write_at = now(), updated_at = now(), link_lease_until = '-infinity', restored_in = NULL, restored_by = NULL
WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid AND b.restored_by IS NOT NULL
  AND NOT EXISTS (SELECT FROM banks o WHERE o.tenant_id = %(tenant_id)s AND o.external_id = %(external_id)s::text)
  AND NOT EXISTS (SELECT FROM bank_aliases a WHERE a.tenant_id = %(tenant_id)s AND a.alias = %(external_id)s::text)
