-- What crosses tenants.  A statement knows an overload of due_work by its arguments, after the first, which is how many:
--
--   observations, auto_consolidation, server_policy, moment   operation:*, consolidation, revival, links, reflect, policy, seal, limits
--   retention_days (integer)                                  expired: records of ended operations
--   compaction_window (interval), moment                      compaction
--   kept_seconds (double precision)                           ended_runs: reflect runs that are kept no longer
--   nothing more                                              page_schedule, page_deletion, pages
--   audited_before (timestamptz)                              audit: entries that are kept no longer
--   everywhere (boolean)                                      webhook, webhook_events
--   states (text[])                                           erasure
--   unheld_seconds (bigint)                                   kept_files: files that no document holds
--   ended_kind (text)                                         left_vectors: re-embeddings that ended before their vectors served
--
-- Those that do not ask how many answer in numbers: by observations, auto_consolidation, moment, states (backlog); and by
-- observations, auto_consolidation, compaction_window, states, everywhere, or unheld_seconds alone (next_due).

-- resolve_key --
-- The API key with this hash, of whatever tenant: the first of the two questions that cross tenants.
SELECT tenant_id, key_id, key_hash, first_key_id, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes,
       is_expired, is_revoked, is_suspended, is_use_unnoted AND has_table_privilege('key_uses', 'INSERT') AS is_use_to_note
FROM resolve_key(%(key_hash)s::bytea, interval '1 hour')

-- due_work --
-- Pending work that nobody holds, of every tenant: the second of the two.
SELECT tenant_id, kind, bank_id, id
FROM due_work(%(at_most)s::integer, %(observations)s::boolean, %(auto_consolidation)s::boolean, %(server_policy)s::text,
              %(moment)s::timestamptz)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, %(retention_days)s::integer)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, make_interval(secs => %(compaction_seconds)s::double precision),
    %(moment)s::timestamptz)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, %(run_seconds)s::double precision)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer,
    CASE WHEN %(audit_days)s::integer < 0 THEN '-infinity' ELSE now() - make_interval(days => %(audit_days)s::integer) END)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, %(everywhere)s::boolean)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer,
    CASE WHEN %(signs)s::boolean THEN ARRAY['running', 'objects', 'unsigned'] ELSE ARRAY['running', 'objects'] END)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, 86400::bigint)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, 'reembed'::text)

-- next_due --
-- When the next work becomes due over all tenants and kinds, which may have been long ago; null: never.
SELECT min(due_at) AS next_due
FROM (SELECT due_at
      FROM due_work(%(observations)s::boolean, %(auto_consolidation)s::boolean, make_interval(secs => %(compaction_seconds)s::double precision),
          CASE WHEN %(signs)s::boolean THEN ARRAY['running', 'objects', 'unsigned'] ELSE ARRAY['running', 'objects'] END,
          %(everywhere)s::boolean)
      UNION ALL SELECT due_at FROM due_work(86400::bigint)) AS each_kind
WHERE isfinite(due_at)

-- backlog --
-- How much work waits and how much is given up, over all tenants and by kind: amounts, and no ids.
SELECT measure, kind, amount
FROM due_work(%(observations)s::boolean, %(auto_consolidation)s::boolean, %(moment)s::timestamptz,
    CASE WHEN %(signs)s::boolean THEN ARRAY['running', 'objects', 'unsigned'] ELSE ARRAY['running', 'objects'] END)
