-- a_is_like --
-- The facts that the fact a is linked to by meaning, from either end.
ARRAY(
    SELECT l.to_unit FROM memory_links l
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.from_unit = a.id AND l.link_type = 'semantic'
    UNION ALL
    SELECT l.from_unit FROM memory_links l
    WHERE l.tenant_id = %(tenant_id)s AND l.bank_id = %(bank_id)s::uuid AND l.to_unit = a.id AND l.link_type = 'semantic')
