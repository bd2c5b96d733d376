-- create --
-- The transaction's tenant, unless it is there.
INSERT INTO tenants (tenant_id, name) VALUES (%(tenant_id)s, %(name)s::text) ON CONFLICT (tenant_id) DO NOTHING

-- is_there --
-- The transaction's tenant, if it was made.
SELECT tenant_id FROM tenants WHERE tenant_id = %(tenant_id)s

-- add_key --
-- A key of the tenant, by the hash of its token.
INSERT INTO api_keys (tenant_id, key_id, key_hash, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes, expires_at)
VALUES (%(tenant_id)s, %(key_id)s::uuid, %(key_hash)s::bytea, %(subject)s::text, %(permissions)s::text[], %(bank_patterns)s::text[],
        %(forced_tags)s::jsonb, %(fact_types)s::text[], %(exact_scopes)s::jsonb, %(expires_at)s::timestamptz)

-- list_keys --
-- The tenant's keys, newest first, without what could open a door.
SELECT key_id, subject, permissions, bank_patterns, forced_tags, fact_types, exact_scopes, expires_at, revoked_at, created_at
FROM api_keys WHERE tenant_id = %(tenant_id)s ORDER BY created_at DESC, key_id

-- revoke_key --
-- Ends a key that still works.
UPDATE api_keys SET revoked_at = now()
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s::uuid AND revoked_at IS NULL
