-- resolve_key --
-- The API key with this hash, of whatever tenant: the first of the two questions that cross tenants.
SELECT tenant_id, key_id, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes, is_expired, is_revoked
FROM resolve_key(%(key_hash)s::bytea)

-- due_work --
-- Pending work that nobody holds, of every tenant: the second of the two.
SELECT tenant_id, kind, bank_id, id
FROM due_work(%(at_most)s::integer, %(observations)s::boolean, %(auto_consolidation)s::boolean, %(server_policy)s::text)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, %(retention_days)s::integer)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, make_interval(secs => %(compaction_seconds)s::double precision))
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, %(run_seconds)s::double precision)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer,
    CASE WHEN %(audit_days)s::integer < 0 THEN '-infinity' ELSE now() - make_interval(days => %(audit_days)s::integer) END)
UNION ALL SELECT tenant_id, kind, bank_id, id FROM due_work(%(at_most)s::integer, %(everywhere)s::boolean)
