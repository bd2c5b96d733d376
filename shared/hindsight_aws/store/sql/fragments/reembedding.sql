-- u_made_of --
-- What the vector of u was made of: its text, and the vector that serves, which differs when what else was embedded does.
md5(u.text || encode(coalesce(halfvec_send(u.embedding), ''::bytea), 'hex'))

-- m_made_of --
-- The same of the page m.
md5(m.content || encode(coalesce(halfvec_send(m.embedding), ''::bytea), 'hex'))

-- r_is_of --
-- The row r was made by this operation.
r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.operation_id = %(operation_id)s::uuid

-- beside --
-- The operation whose vectors serve where a row's own are not of the bank's model; null but for a while after such a change.
(SELECT b.vectors_beside FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid)

-- u_is_in_place --
-- The vector of u in its own row is the one that serves; put so that the planner expects it of nearly every row.
(CASE WHEN {{beside}} IS NULL OR u.embedding_model IS NOT DISTINCT FROM (
     SELECT b.embedding_model FROM banks b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid) THEN 1 END IS NOT NULL)

-- u_vector --
-- The vector of u that serves: its own, or the one made beside until it is put in place.
CASE WHEN {{u_is_in_place}} THEN u.embedding ELSE (
    SELECT r.embedding FROM reembedded_vectors r
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.operation_id = {{beside}}
      AND r.kind = 'memory' AND r.item_id = u.id)
END

-- nearest_beside --
-- The memories of a type nearest to a vector among those whose vectors serve from beside, through the index over these.
(SELECT r.item_id, r.embedding <=> %(embedding)s::halfvec
     FROM reembedded_vectors AS r
     CROSS JOIN LATERAL (
         SELECT FROM memory_units AS u
         WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s AND u.id = r.item_id AND u.fact_type = %(fact_type)s::text
           AND NOT {{u_is_in_place}}
           AND {{u_passes}}
         OFFSET 0
     ) AS there
     WHERE {{beside}} IS NOT NULL
       AND r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s AND r.operation_id = {{beside}} AND r.kind = 'memory'
     ORDER BY r.embedding <=> %(embedding)s::halfvec
     LIMIT %(at_most)s::bigint)
