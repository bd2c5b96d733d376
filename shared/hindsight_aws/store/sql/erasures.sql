-- begin --
-- Writes an erasure down; nothing when the bank is erased already.
INSERT INTO erasures (tenant_id, erasure_id, bank_id, bank, kind, tags, match, subject)
VALUES (%(tenant_id)s, %(erasure_id)s::uuid, %(bank_id)s::uuid, %(bank)s::text, %(kind)s::text, %(tags)s::text[], %(match)s::text,
        %(subject)s::text)
ON CONFLICT (tenant_id, bank_id) WHERE kind = 'bank' DO NOTHING

-- find --
-- An erasure by its id.
SELECT erasure_id, bank_id, bank, kind, tags, match, subject, state, erased, blanked, queues, object_keys, objects, started_at, ended_at,
       digest, key_id, algorithm, signature, signed_at
FROM erasures WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid

-- page --
-- Erasures of the banks covered, the latest first, with how many there are.
SELECT (SELECT count(*) FROM erasures c WHERE c.tenant_id = %(tenant_id)s
        AND (%(covered)s::text IS NULL OR c.bank ~ %(covered)s::text)) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT e.erasure_id, e.bank_id, e.bank, e.kind, e.tags, e.match, e.subject, e.state, e.erased, e.blanked, e.queues, e.object_keys,
           e.objects, e.started_at, e.ended_at, e.digest, e.key_id, e.algorithm, e.signature, e.signed_at
    FROM erasures e
    WHERE e.tenant_id = %(tenant_id)s AND (%(covered)s::text IS NULL OR e.bank ~ %(covered)s::text)
    ORDER BY e.started_at DESC, e.erasure_id
    LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true

-- tombstone --
-- The erasure of a bank as a whole, by the bank's internal id.
SELECT erasure_id FROM erasures WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND kind = 'bank'

-- take_lease --
-- Takes an erasure that is due, that nobody works on and that is not signed yet.
UPDATE erasures SET lease_until = clock_timestamp() + make_interval(secs => %(seconds)s::double precision), fence = fence + 1
WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid AND lease_until < clock_timestamp()
  AND due_at <= clock_timestamp() AND state <> 'signed'
RETURNING fence

-- lock --
-- Keeps an erasure that is still ours from others until the transaction ends.
UPDATE erasures SET lease_until = greatest(lease_until, clock_timestamp() + interval '60 seconds')
WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid AND fence = %(fence)s::bigint
RETURNING erasure_id

-- give_back --
-- Lets others work on an erasure that is still ours, not before a moment.
UPDATE erasures SET lease_until = '-infinity', due_at = clock_timestamp() + make_interval(secs => %(seconds)s::double precision)
WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid AND fence = %(fence)s::bigint

-- tally --
-- How many rows of each table this connection has removed, those that went with others included; the difference is a transaction's.
SELECT s.relname::text AS name, s.n_tup_del AS removed
FROM pg_stat_xact_user_tables s
WHERE s.schemaname = 'hindsight' AND s.n_tup_del > 0 AND %(tenant_id)s::uuid IS NOT NULL

-- note --
-- Adds to what an erasure has done so far.
UPDATE erasures e
SET erased = (SELECT coalesce(jsonb_object_agg(k.name, k.rows), '{}') FROM (
                  SELECT a.key AS name, sum(a.value::bigint) AS rows
                  FROM (SELECT * FROM jsonb_each_text(e.erased) UNION ALL SELECT * FROM jsonb_each_text(%(erased)s::jsonb)) AS a
                  GROUP BY a.key) AS k),
    blanked = (SELECT coalesce(jsonb_object_agg(k.name, k.rows), '{}') FROM (
                   SELECT a.key AS name, sum(a.value::bigint) AS rows
                   FROM (SELECT * FROM jsonb_each_text(e.blanked) UNION ALL SELECT * FROM jsonb_each_text(%(blanked)s::jsonb)) AS a
                   GROUP BY a.key) AS k),
    queues = (SELECT coalesce(jsonb_object_agg(k.name, k.rows), '{}') FROM (
                  SELECT a.key AS name, sum(a.value::bigint) AS rows
                  FROM (SELECT * FROM jsonb_each_text(e.queues) UNION ALL SELECT * FROM jsonb_each_text(%(queues)s::jsonb)) AS a
                  GROUP BY a.key) AS k),
    object_keys = e.object_keys || %(object_keys)s::text[]
WHERE e.tenant_id = %(tenant_id)s AND e.erasure_id = %(erasure_id)s::uuid

-- rows_gone --
-- The database's part of an erasure is over; stored files are deleted not before nobody can bring one any more.
UPDATE erasures
SET state = 'objects', ended_at = clock_timestamp(),
    due_at = clock_timestamp() + make_interval(secs => CASE WHEN cardinality(object_keys) > 0 THEN %(ticket_seconds)s::double precision ELSE 0 END)
WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid AND state = 'running'

-- objects_gone --
-- Some of the stored files of an erasure are gone.
UPDATE erasures AS e SET objects = e.objects + cardinality(%(keys)s::text[]), ended_at = clock_timestamp(),
    object_keys = ARRAY(SELECT k.key FROM unnest(e.object_keys) WITH ORDINALITY AS k (key, place) WHERE k.key <> ALL (%(keys)s::text[]) ORDER BY k.place)
WHERE e.tenant_id = %(tenant_id)s AND e.erasure_id = %(erasure_id)s::uuid AND e.state = 'objects'

-- settle --
-- The receipt is complete: nothing in it changes any more.
UPDATE erasures SET state = 'unsigned', digest = %(digest)s::text
WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid AND state = 'objects'

-- sign --
-- The signature of a complete receipt.
UPDATE erasures
SET state = 'signed', key_id = %(key_id)s::text, algorithm = %(algorithm)s::text, signature = %(signature)s::text,
    signed_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND erasure_id = %(erasure_id)s::uuid AND state = 'unsigned' AND digest = %(digest)s::text

-- waiting_of_bank --
-- How much work waits in a bank, by kind.
SELECT (SELECT count(*) FROM operations o
        WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.status IN ('pending', 'processing')) AS operations,
       (SELECT count(*) FROM consolidation_work w
        WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.state = 'pending') AS consolidation_work,
       (SELECT count(*) FROM link_maintenance l
        WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid) AS link_maintenance,
       (SELECT count(*) FROM webhook_deliveries d
        WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.status = 'pending') AS webhook_deliveries,
       (SELECT count(*) FROM reflect_runs r
        WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.status = 'running') AS reflect_runs

-- objects_of_bank --
-- The stored files that rows of a bank know of.
SELECT u.object_key FROM uploads u WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid
UNION
SELECT o.payload -> 'file' ->> 'key' FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.payload -> 'file' ->> 'key' IS NOT NULL
UNION
SELECT o.payload ->> 'archive_key' FROM operations o
WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.payload ->> 'archive_key' IS NOT NULL
UNION
SELECT t.archive_key FROM transfers t WHERE t.tenant_id = %(tenant_id)s AND t.bank_id = %(bank_id)s::uuid
UNION
SELECT k.object_key FROM kept_files k WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid

-- memories_of_bank --
-- How many memories a bank holds, as its counters say.
SELECT coalesce(sum(c.units), 0)::bigint AS memories FROM bank_counters c
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid

-- set_aside --
-- Puts a bank that is locked out of everybody's reach; its name is free at once.
UPDATE banks SET external_id = %(external_id)s::text, name = NULL, erased_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- drop_aliases --
-- Takes the other names of a bank away.
DELETE FROM bank_aliases WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- drop_operations --
-- Removes every operation of a bank: whoever works on one finds it gone.
DELETE FROM operations WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- slice_of_memories --
-- Removes the next memories of a bank that is set aside, with all that hangs on them.
DELETE FROM memory_units
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND id IN (SELECT u.id FROM memory_units u WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid
             ORDER BY u.id LIMIT %(at_most)s::integer FOR UPDATE)

-- slice_of_documents --
-- Removes the next documents of a bank that is set aside.
DELETE FROM documents
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND document_id IN (SELECT d.document_id FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid
                      ORDER BY d.document_id LIMIT %(at_most)s::integer FOR UPDATE)

-- slice_of_revisions --
-- Removes the next revisions of a bank that is set aside.
DELETE FROM observation_revisions
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND revision_id IN (SELECT r.revision_id FROM observation_revisions r
                      WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid
                      ORDER BY r.revision_id LIMIT %(at_most)s::integer FOR UPDATE)

-- slice_of_entities --
-- Removes the next entities of a bank that is set aside.
DELETE FROM entities
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND entity_id IN (SELECT e.entity_id FROM entities e WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid
                    ORDER BY e.entity_id LIMIT %(at_most)s::integer FOR UPDATE)
