-- create --
-- The transaction's tenant, unless it is there.
INSERT INTO tenants (tenant_id, name) VALUES (%(tenant_id)s, %(name)s::text) ON CONFLICT (tenant_id) DO NOTHING

-- standing --
-- Whether the transaction's tenant is served; no row where it was never made.
SELECT suspended_at IS NOT NULL AS is_suspended FROM tenants WHERE tenant_id = %(tenant_id)s

-- summary --
-- The transaction's tenant with the number of its banks and of its keys that work.
SELECT t.tenant_id, t.name, t.created_at, t.suspended_at,
       (SELECT count(*) FROM banks b WHERE b.tenant_id = t.tenant_id) AS banks,
       (SELECT count(*) FROM api_keys k WHERE k.tenant_id = t.tenant_id AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now())) AS keys
FROM tenants t WHERE t.tenant_id = %(tenant_id)s

-- rename --
-- Another name for the transaction's tenant.
UPDATE tenants SET name = %(name)s::text WHERE tenant_id = %(tenant_id)s

-- suspend --
-- From now on the tenant is not served; one that is suspended stays so since when it was.
UPDATE tenants SET suspended_at = coalesce(suspended_at, now()) WHERE tenant_id = %(tenant_id)s

-- resume --
-- The tenant is served again.
UPDATE tenants SET suspended_at = NULL WHERE tenant_id = %(tenant_id)s

-- add_key --
-- A key of the tenant, by the hash of its token.
INSERT INTO api_keys (tenant_id, key_id, key_hash, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes, expires_at)
VALUES (%(tenant_id)s, %(key_id)s::uuid, %(key_hash)s::bytea, %(subject)s::text, %(permissions)s::text[], %(bank_patterns)s::text[],
        %(forced_tags)s::jsonb, %(fact_types)s::text[], %(exact_scopes)s::jsonb, %(expires_at)s::timestamptz)

-- lock_key --
-- A key of the tenant, kept from being rotated or revoked by somebody else until the end of the transaction.
SELECT expires_at, revoked_at, created_at FROM api_keys
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s::uuid FOR UPDATE

-- successor --
-- The key that took the place of one that is locked: read after the lock, so that whoever held it before is seen.
SELECT key_id FROM api_keys WHERE tenant_id = %(tenant_id)s AND predecessor_id = %(key_id)s::uuid

-- add_successor --
-- A key that may do what its predecessor may, and is the same holder's.
INSERT INTO api_keys (tenant_id, key_id, key_hash, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes, expires_at,
                      first_key_id, predecessor_id)
SELECT tenant_id, %(key_id)s::uuid, %(key_hash)s::bytea, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes,
       %(expires_at)s::timestamptz, coalesce(first_key_id, key_id), key_id
FROM api_keys WHERE tenant_id = %(tenant_id)s AND key_id = %(predecessor_id)s::uuid

-- end_key_by --
-- A key works no longer than until then; one that ends earlier keeps its end.
UPDATE api_keys SET expires_at = least(expires_at, %(until)s::timestamptz)
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s::uuid

-- list_keys --
-- The tenant's keys, newest first, without what could open a door; a reader's use is known from what its calls cost.
SELECT k.key_id, k.subject, k.permissions, k.bank_patterns, k.forced_tags, k.fact_types, k.exact_scopes, k.expires_at, k.revoked_at,
       k.created_at, k.predecessor_id, s.key_id AS successor_id, greatest(u.last_used_at, c.last_call_at) AS last_used_at
FROM api_keys k
LEFT JOIN api_keys s ON s.tenant_id = k.tenant_id AND s.predecessor_id = k.key_id
LEFT JOIN key_uses u ON u.tenant_id = k.tenant_id AND u.key_id = k.key_id
LEFT JOIN (
    SELECT subject, max(at) AS last_call_at FROM usage_ledger
    WHERE tenant_id = %(tenant_id)s AND at > now() - interval '90 days' GROUP BY subject
) c ON c.subject = k.subject || '#' || coalesce(k.first_key_id, k.key_id)
WHERE k.tenant_id = %(tenant_id)s ORDER BY k.created_at DESC, k.key_id

-- revoke_key --
-- Ends a key that still works.
UPDATE api_keys SET revoked_at = now()
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s::uuid AND revoked_at IS NULL

-- note_use --
-- That a key was used; of those who note it at once, one writes.
INSERT INTO key_uses (tenant_id, key_id) VALUES (%(tenant_id)s, %(key_id)s::uuid)
ON CONFLICT (tenant_id, key_id) DO UPDATE SET last_used_at = now() WHERE key_uses.last_used_at <= now() - interval '1 hour'
