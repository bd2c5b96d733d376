-- Who called what on which bank, and how it ended: no text, no body; kept when the bank is deleted, until its time is over.
-- depends: 20261130002100_webhooks 20261130002300_bank_aliases

CREATE TABLE audit_log (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    entry_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    bank text NOT NULL,
    action text NOT NULL,
    transport text NOT NULL CHECK (transport IN ('http', 'mcp', 'system')),
    subject text NOT NULL,
    status integer NOT NULL,
    targets jsonb NOT NULL DEFAULT '{}',
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, entry_id)
);
CREATE INDEX audit_log_bank ON audit_log (tenant_id, bank, started_at DESC, entry_id);
CREATE INDEX audit_log_of_bank_id ON audit_log (tenant_id, bank_id, started_at);
CREATE INDEX audit_log_started ON audit_log (started_at);
COMMENT ON COLUMN audit_log.bank IS 'the id that callers use: what was done to a deleted bank is found under it';
COMMENT ON COLUMN audit_log.targets IS 'ids of ours in the path of the call, by name';

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON audit_log USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY route_audit ON audit_log FOR SELECT TO hindsight_router USING (true);
GRANT SELECT ON audit_log TO hindsight_read, hindsight_write, hindsight_router;
GRANT INSERT, DELETE ON audit_log TO hindsight_write;

-- Banks, deleted ones too, of which entries began before that moment.
CREATE FUNCTION due_work(at_most integer, audited_before timestamptz)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT DISTINCT a.tenant_id, 'audit', a.bank_id, a.bank_id
    FROM (SELECT l.tenant_id, l.bank_id FROM audit_log l WHERE l.started_at < audited_before
          ORDER BY l.started_at LIMIT at_most) AS a
$$;
REVOKE ALL ON FUNCTION due_work(integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, timestamptz) TO hindsight_write;
ALTER FUNCTION due_work(integer, timestamptz) OWNER TO hindsight_router;
