-- Keys that take the place of others, when each was last used, and tenants that are suspended.
-- depends: 20261130002310_audit_log

ALTER TABLE tenants ADD COLUMN suspended_at timestamptz;
COMMENT ON COLUMN tenants.suspended_at IS 'since when its calls are refused and its work is not handed out; null: it is served';

ALTER TABLE api_keys ADD COLUMN first_key_id uuid;
ALTER TABLE api_keys ADD COLUMN predecessor_id uuid;
ALTER TABLE api_keys ADD FOREIGN KEY (tenant_id, predecessor_id) REFERENCES api_keys;
CREATE UNIQUE INDEX api_keys_predecessor ON api_keys (tenant_id, predecessor_id) WHERE predecessor_id IS NOT NULL;
COMMENT ON COLUMN api_keys.first_key_id IS 'the first key of its rotations, under whose id its operations and costs are kept; null: itself';
COMMENT ON COLUMN api_keys.predecessor_id IS 'the key that it took the place of';

-- Apart from the keys, which no function may change: the one thing that a call writes about its key, once an hour at most.
CREATE TABLE key_uses (
    tenant_id uuid NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key_id),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys ON DELETE CASCADE
);
ALTER TABLE key_uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_uses FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON key_uses USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON key_uses TO hindsight_write;

CREATE POLICY route_tenants ON tenants FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_key_uses ON key_uses FOR SELECT TO hindsight_router USING (true);
GRANT SELECT (tenant_id, suspended_at) ON tenants TO hindsight_router;
GRANT SELECT ON key_uses TO hindsight_router;

-- Whatever due_work reads to find work, a suspended tenant's rows are not among it; what only deletes by date goes on.
DO $$
DECLARE
    led text[];
BEGIN
    FOREACH led SLICE 1 IN ARRAY ARRAY[
        ['operations', 'route_operations'], ['scopes', 'route_scopes'], ['consolidation_work', 'route_work'], ['banks', 'route_banks'],
        ['link_maintenance', 'route_links'], ['reflect_runs', 'route_runs'], ['mental_models', 'route_models'],
        ['mental_model_citations', 'route_citations'], ['webhooks', 'route_webhooks'], ['webhook_events', 'route_events'],
        ['webhook_deliveries', 'route_deliveries']] LOOP
        EXECUTE format('ALTER POLICY %I ON %I USING (tenant_id NOT IN (SELECT t.tenant_id FROM tenants t WHERE t.suspended_at IS NOT NULL))',
                       led[2], led[1]);
    END LOOP;
END
$$;

-- The key of a hash with all that a call must know of it; `noted_within`: how long a noted use spares the next one from being noted.
CREATE FUNCTION resolve_key(wanted bytea, noted_within interval)
RETURNS TABLE (tenant_id uuid, key_id uuid, key_hash bytea, first_key_id uuid, subject text, permissions text[], bank_patterns text[],
               forced_tags jsonb, fact_types text[], exact_scopes jsonb, is_expired boolean, is_revoked boolean, is_suspended boolean,
               is_use_unnoted boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT k.tenant_id, k.key_id, k.key_hash, coalesce(k.first_key_id, k.key_id), k.subject, k.permissions, k.bank_patterns,
           k.forced_tags, k.fact_types, k.exact_scopes, coalesce(k.expires_at <= now(), false), k.revoked_at IS NOT NULL,
           t.suspended_at IS NOT NULL,
           NOT EXISTS (SELECT FROM key_uses u WHERE u.tenant_id = k.tenant_id AND u.key_id = k.key_id
                       AND u.last_used_at > now() - noted_within)
    FROM api_keys k JOIN tenants t ON t.tenant_id = k.tenant_id
    WHERE k.key_hash = wanted
$$;
REVOKE ALL ON FUNCTION resolve_key(bytea, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION resolve_key(bytea, interval) TO hindsight_read, hindsight_write;
ALTER FUNCTION resolve_key(bytea, interval) OWNER TO hindsight_router;
