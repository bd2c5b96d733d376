-- Vectors that a re-embedding left behind when it was cancelled or failed are removed in parts: the sweep finds what is left.
-- depends: 20261130150000_reembedding

CREATE POLICY route_reembedded_vectors ON reembedded_vectors FOR SELECT TO hindsight_router USING (true);
GRANT SELECT (tenant_id, bank_id, operation_id) ON reembedded_vectors TO hindsight_router;

-- Operations of a kind that have ended and have vectors beside those that serve.  Each operation with such vectors is found by
-- one look into the key, however many it has.
CREATE FUNCTION due_work(at_most integer, ended_kind text)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    WITH RECURSIVE kept AS (
        (SELECT r.tenant_id, r.bank_id, r.operation_id FROM reembedded_vectors r
         ORDER BY r.tenant_id, r.bank_id, r.operation_id LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.bank_id, n.operation_id
        FROM kept k
        CROSS JOIN LATERAL (
            SELECT r.tenant_id, r.bank_id, r.operation_id FROM reembedded_vectors r
            WHERE (r.tenant_id, r.bank_id, r.operation_id) > (k.tenant_id, k.bank_id, k.operation_id)
            ORDER BY r.tenant_id, r.bank_id, r.operation_id LIMIT 1) AS n
    )
    SELECT k.tenant_id, 'left_vectors', k.bank_id, k.operation_id
    FROM kept k
    JOIN operations o ON o.tenant_id = k.tenant_id AND o.bank_id = k.bank_id AND o.operation_id = k.operation_id
    WHERE o.kind = ended_kind AND o.status NOT IN ('pending', 'processing')
    LIMIT at_most
$$;
REVOKE ALL ON FUNCTION due_work(integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, text) TO hindsight_write;
ALTER FUNCTION due_work(integer, text) OWNER TO hindsight_router;
