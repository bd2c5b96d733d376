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

-- round_to_tell --
-- What consolidation did by itself since somebody was last told, when that has come to an end: nothing waits any more, or a
-- bank that never rests has done so for long enough.  No row: nobody listens, nothing was done, or it goes on.
WITH listening AS (
    SELECT least(
        (SELECT min(h.listens_since) FROM webhooks h
         WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.is_enabled AND %(event)s::text = ANY (h.event_types)),
        CASE WHEN %(everywhere)s::boolean THEN now() - interval '1 day' END) AS since
), lately AS MATERIALIZED (
    SELECT l.since, (SELECT max(o.completed_at) FROM operations o
                     WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.kind = 'consolidation'
                       AND o.payload @> '{"automatic": true}') AS told_at
    FROM listening l WHERE l.since IS NOT NULL
), done AS MATERIALIZED (
    SELECT r.run_id, r.counts, r.started_at, r.finished_at FROM lately l
    JOIN consolidation_runs r ON r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.finished_at > greatest(l.since, l.told_at)
    WHERE r.status = 'applied' AND EXISTS (
        SELECT FROM consolidation_work w
        WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.run_id = r.run_id AND NOT w.requested AND NOT w.is_rebuild)
), failed AS MATERIALIZED (
    SELECT count(*) AS facts, min(w.error) AS example, min(w.failed_at) AS since FROM lately l
    JOIN consolidation_work w ON w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.state = 'failed'
     AND w.failed_at > greatest(l.since, l.told_at) AND NOT w.requested AND NOT w.is_rebuild
)
SELECT l.told_at, least((SELECT min(d.started_at) FROM done d), f.since) AS began_at, f.facts AS failed, f.example,
       (SELECT count(*) FROM done d JOIN consolidation_work w
        ON w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.run_id = d.run_id AND w.state = 'done') AS facts,
       (SELECT coalesce(sum((d.counts ->> 'observations_created')::integer), 0)::integer FROM done d) AS created,
       (SELECT coalesce(sum((d.counts ->> 'observations_updated')::integer), 0)::integer FROM done d) AS updated,
       (SELECT coalesce(sum((d.counts ->> 'observations_merged')::integer), 0)::integer FROM done d) AS deleted
FROM lately l CROSS JOIN failed f
WHERE (f.facts > 0 OR EXISTS (SELECT FROM done))
  AND (NOT EXISTS (
          SELECT FROM consolidation_work w
          WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.state = 'pending' AND NOT w.requested
            AND NOT w.is_rebuild AND isfinite(w.due_at))
       OR least((SELECT min(d.finished_at) FROM done d), f.since) < now() - make_interval(secs => %(longest_seconds)s::double precision))

-- add_round --
-- The operation that stands for such a round, which has ended; no row where another told of the same.
INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, payload, result, error_message, error_kind,
                        created_at, completed_at)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(operation_id)s::uuid, 'consolidation', %(status)s::text, 'consolidation',
        '{"automatic": true}', %(result)s::jsonb, %(error_message)s::text, CASE WHEN %(error_message)s::text IS NOT NULL THEN 'consolidation' END,
        %(began_at)s::timestamptz, clock_timestamp())
ON CONFLICT DO NOTHING
RETURNING operation_id

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
    failures = CASE WHEN %(url)s::text IS NULL AND %(is_enabled)s::boolean IS NULL THEN h.failures ELSE 0 END,
    rests_until = CASE WHEN %(url)s::text IS NULL AND %(is_enabled)s::boolean IS NULL THEN h.rests_until END,
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
