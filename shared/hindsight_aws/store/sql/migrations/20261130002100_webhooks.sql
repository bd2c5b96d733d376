-- Webhooks of banks, and for each event and hook one delivery, which is tried until somebody says yes.
-- depends: 20261130000800_schedules

CREATE TABLE webhooks (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    secret text,
    event_types text[] NOT NULL,
    is_enabled boolean NOT NULL DEFAULT true,
    method text NOT NULL CHECK (method IN ('POST', 'GET')),
    timeout_seconds integer NOT NULL CHECK (timeout_seconds BETWEEN 1 AND 60),
    headers jsonb NOT NULL DEFAULT '{}',
    params jsonb NOT NULL DEFAULT '{}',
    listens_since timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, webhook_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
COMMENT ON COLUMN webhooks.secret IS 'what its deliveries are signed with; no answer, log or message holds it, and no reader may select it';
COMMENT ON COLUMN webhooks.listens_since IS 'it is told of what came after: when it was made, or last enabled';

ALTER TABLE webhook_events ADD COLUMN fanned_out_at timestamptz;
CREATE INDEX webhook_events_untold ON webhook_events (tenant_id, bank_id, created_at) WHERE fanned_out_at IS NULL;
COMMENT ON COLUMN webhook_events.fanned_out_at IS 'when a delivery was written for each hook that wants it; null in banks to which nobody listens';

CREATE TABLE webhook_deliveries (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    event_id uuid NOT NULL,
    webhook_id uuid,
    url text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'completed', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    fence bigint NOT NULL DEFAULT 0,
    last_status integer,
    last_error text,
    last_attempt_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, delivery_id),
    FOREIGN KEY (tenant_id, bank_id, event_id) REFERENCES webhook_events ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, bank_id, webhook_id) REFERENCES webhooks ON DELETE CASCADE
);
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (tenant_id, bank_id, event_id, webhook_id) NULLS NOT DISTINCT;
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (tenant_id, bank_id, webhook_id, created_at DESC, delivery_id DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE status = 'pending';
COMMENT ON COLUMN webhook_deliveries.webhook_id IS 'null: the server''s own hook, which hears of every bank';

DO $$
DECLARE
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['webhooks', 'webhook_deliveries'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', made);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', made);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', made);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO hindsight_write', made);
    END LOOP;
END
$$;
-- Headers may hold a receiver's password: whoever only reads sees neither them nor the secret.
GRANT SELECT (tenant_id, bank_id, webhook_id, url, event_types, is_enabled, method, timeout_seconds, params, listens_since, created_at, updated_at)
    ON webhooks TO hindsight_read;
GRANT SELECT ON webhook_deliveries TO hindsight_read;

CREATE POLICY route_webhooks ON webhooks FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_events ON webhook_events FOR SELECT TO hindsight_router USING (true);
CREATE POLICY route_deliveries ON webhook_deliveries FOR SELECT TO hindsight_router USING (true);
GRANT SELECT (tenant_id, bank_id, webhook_id, is_enabled, listens_since) ON webhooks TO hindsight_router;
GRANT SELECT ON webhook_events, webhook_deliveries TO hindsight_router;

-- Deliveries whose time has come, and banks with events that somebody is still to be told of; `everywhere`: the server has
-- a hook of its own, which is told of every bank's events of the last day.
CREATE FUNCTION due_work(at_most integer, everywhere boolean)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    (SELECT d.tenant_id, 'webhook', d.bank_id, d.delivery_id
     FROM webhook_deliveries d WHERE d.status = 'pending' AND d.due_at <= now() AND d.lease_until < now()
     ORDER BY d.due_at LIMIT at_most)
    UNION ALL
    (SELECT h.tenant_id, 'webhook_events', h.bank_id, h.bank_id
     FROM webhooks h
     WHERE h.is_enabled AND EXISTS (
         SELECT FROM webhook_events e
         WHERE e.tenant_id = h.tenant_id AND e.bank_id = h.bank_id AND e.fanned_out_at IS NULL AND e.created_at >= h.listens_since)
     GROUP BY h.tenant_id, h.bank_id LIMIT at_most)
    UNION ALL
    (SELECT e.tenant_id, 'webhook_events', e.bank_id, e.bank_id
     FROM webhook_events e
     WHERE everywhere AND e.fanned_out_at IS NULL AND e.created_at >= now() - interval '1 day'
     GROUP BY e.tenant_id, e.bank_id LIMIT at_most)
$$;
REVOKE ALL ON FUNCTION due_work(integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, boolean) TO hindsight_write;
ALTER FUNCTION due_work(integer, boolean) OWNER TO hindsight_router;
