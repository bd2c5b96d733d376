-- named --
-- The bank that a name means: by its own id before an alias.
SELECT b.bank_id, b.external_id, (b.config ->> 'audit_log_enabled')::boolean AS is_audited FROM banks b
WHERE b.tenant_id = %(tenant_id)s AND b.erased_at IS NULL AND b.bank_id = coalesce(
    (SELECT o.bank_id FROM banks o WHERE o.tenant_id = %(tenant_id)s AND o.external_id = %(name)s::text),
    (SELECT a.bank_id FROM bank_aliases a WHERE a.tenant_id = %(tenant_id)s AND a.alias = %(name)s::text))

-- of_bank --
-- A bank's aliases, the primary one first.
SELECT alias, is_primary FROM bank_aliases
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
ORDER BY is_primary DESC, created_at, alias

-- add --
-- Another name of a bank, unless a bank or an alias has it.
INSERT INTO bank_aliases (tenant_id, alias, bank_id)
SELECT %(tenant_id)s, %(name)s::text, %(bank_id)s::uuid
WHERE NOT EXISTS (SELECT FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.external_id = %(name)s::text)
ON CONFLICT (tenant_id, alias) DO NOTHING
RETURNING alias

-- unmark_others --
-- Takes the mark from the alias that was primary.
UPDATE bank_aliases SET is_primary = false
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND is_primary AND alias <> %(name)s::text

-- mark --
-- Whether an alias of a bank is the one that lists show.
UPDATE bank_aliases SET is_primary = %(is_primary)s::boolean
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND alias = %(name)s::text
RETURNING alias

-- remove --
-- Takes a name of a bank away.
DELETE FROM bank_aliases WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND alias = %(name)s::text
RETURNING alias
