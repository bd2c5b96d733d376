-- Forced row-level security on every table, grants by role, and the two functions that may cross tenants.
-- depends: 20261129000200_work

DO $$
DECLARE
    of_tenants text;
BEGIN
    FOR of_tenants IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', of_tenants);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', of_tenants);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', of_tenants);
        EXECUTE format('GRANT SELECT ON %I TO hindsight_read, hindsight_write', of_tenants);
        IF of_tenants NOT IN ('tenants', 'api_keys') THEN
            EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %I TO hindsight_write', of_tenants);
        END IF;
    END LOOP;
END
$$;

REVOKE SELECT ON api_keys FROM hindsight_read, hindsight_write;
REVOKE UPDATE, DELETE ON usage_ledger FROM hindsight_write;
GRANT INSERT ON usage_ledger TO hindsight_read;

-- Whoever administers may list the tenants; every other row still needs one of them to be set.
CREATE POLICY administer_tenants ON tenants FOR SELECT TO hindsight_owner USING (true);

CREATE POLICY route_keys ON api_keys FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_operations ON operations FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_scopes ON scopes FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_work ON consolidation_work FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_banks ON banks FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_links ON link_maintenance FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_runs ON reflect_runs FOR SELECT TO hindsight_router USING (true);
GRANT SELECT ON api_keys, operations, scopes, consolidation_work, banks, link_maintenance, reflect_runs TO hindsight_router;

CREATE FUNCTION resolve_key(wanted bytea)
RETURNS TABLE (tenant_id uuid, key_id uuid, subject text, permissions text[], bank_patterns text[], forced_tags jsonb,
               fact_types text[], exact_scopes jsonb, is_expired boolean, is_revoked boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT k.tenant_id, k.key_id, k.subject, k.permissions, k.bank_patterns, k.forced_tags, k.fact_types, k.exact_scopes,
           coalesce(k.expires_at <= now(), false), k.revoked_at IS NOT NULL
    FROM api_keys k WHERE k.key_hash = wanted
$$;

-- Work whose time has come and that nobody holds, of each kind that which has been due for longest; a scope or bank comes once.
-- The flags are the server's defaults for banks that do not say; a scope counts when its bank consolidates by itself or somebody asked.
CREATE FUNCTION due_work(at_most integer, observations boolean, auto_consolidation boolean)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    (SELECT o.tenant_id, 'operation:' || o.kind, o.bank_id, o.operation_id
     FROM operations o
     WHERE o.status IN ('pending', 'processing') AND o.due_at <= now() AND o.lease_until < now()
       AND NOT EXISTS (SELECT FROM operations c WHERE c.tenant_id = o.tenant_id AND c.bank_id = o.bank_id AND c.parent_id = o.operation_id)
     ORDER BY o.due_at LIMIT at_most)
    UNION ALL
    (SELECT d.tenant_id, 'consolidation', d.bank_id, d.scope_id
     FROM (SELECT w.tenant_id, w.bank_id, w.scope_id, w.requested, min(w.due_at) AS due_at
           FROM consolidation_work w WHERE w.state = 'pending' AND w.due_at <= now()
           GROUP BY w.tenant_id, w.bank_id, w.scope_id, w.requested) AS d
     JOIN scopes s ON s.tenant_id = d.tenant_id AND s.bank_id = d.bank_id AND s.scope_id = d.scope_id
     JOIN banks b ON b.tenant_id = d.tenant_id AND b.bank_id = d.bank_id
     WHERE s.lease_until < now() AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND (d.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
     GROUP BY d.tenant_id, d.bank_id, d.scope_id ORDER BY min(d.due_at) LIMIT at_most)
    UNION ALL
    (SELECT w.tenant_id, 'revival', w.bank_id, w.scope_id
     FROM consolidation_work w
     JOIN banks b ON b.tenant_id = w.tenant_id AND b.bank_id = w.bank_id
     WHERE w.state = 'failed' AND w.revivals <= 3 AND w.failed_at + make_interval(secs => 300 * 2 ^ w.revivals) <= now()
       AND coalesce((b.config ->> 'enable_observations')::boolean, observations)
       AND (w.requested OR coalesce((b.config ->> 'enable_auto_consolidation')::boolean, auto_consolidation))
     GROUP BY w.tenant_id, w.bank_id, w.scope_id ORDER BY min(w.failed_at) LIMIT at_most)
    UNION ALL
    (SELECT l.tenant_id, 'links', l.bank_id, l.bank_id
     FROM link_maintenance l JOIN banks b ON b.tenant_id = l.tenant_id AND b.bank_id = l.bank_id
     WHERE l.due_at <= now() AND b.link_lease_until < now()
     GROUP BY l.tenant_id, l.bank_id ORDER BY min(l.due_at) LIMIT at_most)
    UNION ALL
    (SELECT r.tenant_id, 'reflect', r.bank_id, r.run_id
     FROM reflect_runs r WHERE r.status = 'running' AND r.deadline_at < now()
     ORDER BY r.deadline_at LIMIT at_most)
$$;

REVOKE ALL ON FUNCTION resolve_key(bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION due_work(integer, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION resolve_key(bytea) TO hindsight_read, hindsight_write;
GRANT EXECUTE ON FUNCTION due_work(integer, boolean, boolean) TO hindsight_write;
ALTER FUNCTION resolve_key(bytea) OWNER TO hindsight_router;
ALTER FUNCTION due_work(integer, boolean, boolean) OWNER TO hindsight_router;
