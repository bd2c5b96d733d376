-- u_made_of --
-- What the vector of u was made of: its text, and the vector that serves, which differs when what else was embedded does.
md5(u.text || encode(coalesce(halfvec_send(u.embedding), ''::bytea), 'hex'))

-- m_made_of --
-- The same of the page m.
md5(m.content || encode(coalesce(halfvec_send(m.embedding), ''::bytea), 'hex'))

-- r_is_of --
-- The row r was made by this operation.
r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.operation_id = %(operation_id)s::uuid
