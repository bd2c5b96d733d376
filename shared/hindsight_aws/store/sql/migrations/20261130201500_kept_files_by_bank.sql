-- Banks with files to delete take one place each, those that wait longest first: one with many hides no other.
-- And when the next file is to be deleted, so that the sweep of a paused database comes for it.
-- depends: 20261130191500_kept_files

DROP FUNCTION due_work(integer, bigint);
-- Banks with files that no document holds any more, or none came to hold for so long with nobody at work on it.
CREATE FUNCTION due_work(at_most integer, unheld_seconds bigint)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT k.tenant_id, 'kept_files', k.bank_id, k.bank_id
    FROM kept_files k
    WHERE k.document_id IS NULL
      AND (k.is_condemned OR k.held_at IS NOT NULL
           OR k.created_at < now() - make_interval(secs => unheld_seconds)
              AND NOT EXISTS (SELECT FROM operations o
                              WHERE o.tenant_id = k.tenant_id AND o.operation_id IN (k.operation_id, k.retain_operation_id)
                                AND o.status IN ('pending', 'processing')))
    GROUP BY k.tenant_id, k.bank_id ORDER BY min(k.created_at) LIMIT at_most
$$;
REVOKE ALL ON FUNCTION due_work(integer, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, bigint) TO hindsight_write;
ALTER FUNCTION due_work(integer, bigint) OWNER TO hindsight_router;

-- Files that a document let go of are due at once, those that none came to hold so long after they were stored.
CREATE FUNCTION due_work(unheld_seconds bigint)
RETURNS TABLE (kind text, due_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT 'kept_files', min(CASE WHEN k.is_condemned OR k.held_at IS NOT NULL THEN k.created_at
                                  ELSE k.created_at + make_interval(secs => unheld_seconds) END)
    FROM kept_files k
    WHERE k.document_id IS NULL
      AND (k.is_condemned OR k.held_at IS NOT NULL
           OR NOT EXISTS (SELECT FROM operations o
                          WHERE o.tenant_id = k.tenant_id AND o.operation_id IN (k.operation_id, k.retain_operation_id)
                            AND o.status IN ('pending', 'processing')))
$$;
REVOKE ALL ON FUNCTION due_work(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(bigint) TO hindsight_write;
ALTER FUNCTION due_work(bigint) OWNER TO hindsight_router;
