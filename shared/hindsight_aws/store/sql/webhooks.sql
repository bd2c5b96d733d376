-- tell --
-- Events that somebody may be told of, each once, and whether a hook of the bank listens.
WITH told AS (
    INSERT INTO webhook_events (tenant_id, bank_id, event_id, event, operation_id, status, data)
    SELECT %(tenant_id)s, %(bank_id)s::uuid, e.event_id, e.event, e.operation_id, e.status, e.data
    FROM jsonb_to_recordset(%(events)s::jsonb) AS e (event_id uuid, event text, operation_id uuid, status text, data jsonb)
    ORDER BY e.event_id
    ON CONFLICT DO NOTHING
)
SELECT EXISTS (
    SELECT FROM webhooks h WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.is_enabled
) AS is_heard

-- page --
-- The bank's hooks in the order in which they were made, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT h.webhook_id AS id, h.url, h.event_types, h.is_enabled, h.method, h.timeout_seconds, h.headers, h.params,
           h.created_at, h.updated_at
    FROM webhooks AS h
    WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid
)
SELECT (SELECT count(*) FROM matching) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT m.* FROM matching AS m ORDER BY m.created_at, m.id LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY p.created_at, p.id

-- exists --
-- Whether the bank has this hook.
SELECT 1 AS found FROM webhooks AS h
WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.webhook_id = %(webhook_id)s::uuid

-- add --
-- A new hook, unless the bank has as many as it may.
INSERT INTO webhooks (tenant_id, bank_id, webhook_id, url, secret, event_types, is_enabled, method, timeout_seconds, headers, params)
SELECT %(tenant_id)s, %(bank_id)s::uuid, %(webhook_id)s::uuid, %(url)s::text, %(secret)s::text, %(event_types)s::text[],
       %(is_enabled)s::boolean, %(method)s::text, %(timeout_seconds)s::integer, %(headers)s::jsonb, %(params)s::jsonb
WHERE (SELECT count(*) FROM webhooks AS h WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid) < %(at_most)s::bigint
RETURNING webhook_id AS id, url, event_types, is_enabled, method, timeout_seconds, headers, params, created_at, updated_at

-- change --
-- What is given replaces what a hook had; one that is enabled again listens from now on.
UPDATE webhooks AS h
SET url = coalesce(%(url)s::text, h.url),
    secret = CASE WHEN %(sets_secret)s::boolean THEN %(secret)s::text ELSE h.secret END,
    event_types = coalesce(%(event_types)s::text[], h.event_types),
    listens_since = CASE WHEN %(is_enabled)s::boolean AND NOT h.is_enabled THEN now() ELSE h.listens_since END,
    is_enabled = coalesce(%(is_enabled)s::boolean, h.is_enabled),
    method = coalesce(%(method)s::text, h.method),
    timeout_seconds = coalesce(%(timeout_seconds)s::integer, h.timeout_seconds),
    headers = coalesce(%(headers)s::jsonb, h.headers),
    params = coalesce(%(params)s::jsonb, h.params),
    updated_at = now()
WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.webhook_id = %(webhook_id)s::uuid
RETURNING h.webhook_id AS id, h.url, h.event_types, h.is_enabled, h.method, h.timeout_seconds, h.headers, h.params, h.created_at,
          h.updated_at

-- remove --
-- Removes a hook with its deliveries.
DELETE FROM webhooks WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND webhook_id = %(webhook_id)s::uuid
