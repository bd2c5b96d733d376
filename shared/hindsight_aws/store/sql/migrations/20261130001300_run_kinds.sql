-- Runs that refresh a page are runs like those that answer a question; what they read is kept a while after their end.
-- depends: 20261130000800_schedules

ALTER TABLE reflect_runs ADD COLUMN kind text NOT NULL DEFAULT 'reflect' CHECK (kind IN ('reflect', 'refresh'));
COMMENT ON COLUMN reflect_runs.kind IS 'what the run ends with: reflect an answer, refresh a page';

CREATE INDEX reflect_runs_kept ON reflect_runs (ended_at) WHERE ended_at IS NOT NULL;

-- Banks with runs that ended longer ago than such runs are kept.
CREATE FUNCTION due_work(at_most integer, kept_seconds double precision)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT r.tenant_id, 'ended_runs', r.bank_id, r.bank_id
    FROM reflect_runs r WHERE r.ended_at < now() - make_interval(secs => kept_seconds)
    GROUP BY r.tenant_id, r.bank_id ORDER BY min(r.ended_at) LIMIT at_most
$$;
REVOKE ALL ON FUNCTION due_work(integer, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, double precision) TO hindsight_write;
ALTER FUNCTION due_work(integer, double precision) OWNER TO hindsight_router;
