-- lock_bank --
-- The bank, kept from being deleted.
SELECT 1 AS found FROM banks AS b WHERE b.tenant_id = %(tenant_id)s AND b.bank_id = %(bank_id)s::uuid FOR KEY SHARE

-- fan_out --
-- Writes one delivery for each untold event and hook that wants it; how many events that were, and the deliveries.
WITH untold AS MATERIALIZED (
    SELECT e.event_id, e.event, e.created_at FROM webhook_events AS e
    WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.fanned_out_at IS NULL
      AND e.created_at >= least(
          (SELECT min(h.listens_since) FROM webhooks AS h
           WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.is_enabled),
          CASE WHEN %(server_url)s::text IS NULL THEN NULL ELSE now() - interval '1 day' END)
    ORDER BY e.event_id LIMIT %(at_most)s::bigint
    FOR UPDATE SKIP LOCKED
), listening AS MATERIALIZED (
    SELECT h.webhook_id, h.url, h.event_types, h.listens_since FROM webhooks AS h
    WHERE h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.is_enabled
    ORDER BY h.webhook_id
    FOR KEY SHARE
), wanted AS (
    SELECT u.event_id, l.webhook_id, l.url FROM untold AS u
    JOIN listening AS l ON u.event = ANY (l.event_types) AND u.created_at >= l.listens_since
    UNION ALL
    SELECT u.event_id, NULL::uuid, %(server_url)s::text FROM untold AS u
    WHERE %(server_url)s::text IS NOT NULL AND u.event = ANY (%(server_events)s::text[]) AND u.created_at >= now() - interval '1 day'
), made AS (
    INSERT INTO webhook_deliveries (tenant_id, bank_id, delivery_id, event_id, webhook_id, url)
    SELECT %(tenant_id)s, %(bank_id)s::uuid, gen_random_uuid(), w.event_id, w.webhook_id, w.url
    FROM wanted AS w ORDER BY w.event_id, w.webhook_id
    ON CONFLICT DO NOTHING
    RETURNING delivery_id
), told AS (
    UPDATE webhook_events AS e SET fanned_out_at = now() FROM untold AS u
    WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.event_id = u.event_id
)
SELECT (SELECT count(*) FROM untold) AS events, coalesce((SELECT array_agg(m.delivery_id) FROM made AS m), '{}') AS made

-- put_off --
-- Puts a due delivery off, uncounted, while its hook rests, or, having failed last, is already asked as often as it then may be;
-- one that has waited so for longer than it may ends.
UPDATE webhook_deliveries AS d
SET status = CASE WHEN d.created_at < now() - make_interval(secs => %(longest_seconds)s::double precision) THEN 'failed' ELSE d.status END,
    last_error = CASE WHEN d.created_at < now() - make_interval(secs => %(longest_seconds)s::double precision)
                      THEN coalesce(d.last_error, 'the receiver does not answer') ELSE d.last_error END,
    due_at = greatest(h.rests_until, now() + interval '15 seconds') + random() * interval '10 seconds', updated_at = now()
FROM webhooks AS h
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.delivery_id = %(delivery_id)s::uuid
  AND d.status = 'pending' AND d.due_at <= now() AND d.lease_until < now()
  AND h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.webhook_id = d.webhook_id AND h.is_enabled AND h.failures > 0
  AND (h.rests_until > now()
       OR (SELECT count(*) FROM webhook_deliveries AS o
           WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.webhook_id = d.webhook_id
             AND o.status = 'pending' AND o.lease_until > now()) >= %(at_once)s::bigint)
RETURNING d.status, extract(epoch FROM d.due_at - now())::double precision AS wait_seconds

-- note_answer --
-- Counts on the hook what an attempt at a delivery came to, while this fence is the last; after some failures in a row it rests.
UPDATE webhooks AS h
SET failures = CASE WHEN %(is_taken)s::boolean THEN 0 ELSE h.failures + 1 END,
    rests_until = CASE WHEN NOT %(is_taken)s::boolean AND h.failures + 1 >= %(patience)s::integer
                       THEN now() + make_interval(secs => least(60.0 * (h.failures + 1), 3600)) END
FROM webhook_deliveries AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.delivery_id = %(delivery_id)s::uuid
  AND d.fence = %(fence)s::bigint AND d.status = 'pending'
  AND h.tenant_id = %(tenant_id)s AND h.bank_id = %(bank_id)s::uuid AND h.webhook_id = d.webhook_id
  AND (h.failures > 0 OR NOT %(is_taken)s::boolean)

-- claim --
-- Takes the lease of a delivery that is due and counts the attempt; what it tells of, and to whom.
WITH held AS (
    UPDATE webhook_deliveries AS d
    SET lease_until = now() + make_interval(secs => %(lease_seconds)s::double precision), fence = d.fence + 1,
        attempts = d.attempts + 1, last_attempt_at = now(), updated_at = now(),
        url = coalesce((SELECT h.url FROM webhooks AS h WHERE h.tenant_id = d.tenant_id AND h.bank_id = d.bank_id
                        AND h.webhook_id = d.webhook_id), d.url)
    WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.delivery_id = %(delivery_id)s::uuid
      AND d.status = 'pending' AND d.due_at <= now() AND d.lease_until < now()
      AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = %(tenant_id)s AND t.suspended_at IS NOT NULL)
    RETURNING d.*
)
SELECT d.delivery_id, d.fence, d.attempts, d.url, d.event_id, extract(epoch FROM d.lease_until)::double precision AS lease_until,
       e.event, e.operation_id, e.status, e.data, e.created_at, b.external_id,
       h.secret, coalesce(h.is_enabled, d.webhook_id IS NULL) AS is_enabled, coalesce(h.method, 'POST') AS method,
       coalesce(h.timeout_seconds, 30) AS timeout_seconds, coalesce(h.headers, '{}') AS headers, coalesce(h.params, '{}') AS params
FROM held AS d
JOIN webhook_events AS e ON e.tenant_id = d.tenant_id AND e.bank_id = d.bank_id AND e.event_id = d.event_id
JOIN banks AS b ON b.tenant_id = d.tenant_id AND b.bank_id = d.bank_id
LEFT JOIN webhooks AS h ON h.tenant_id = d.tenant_id AND h.bank_id = d.bank_id AND h.webhook_id = d.webhook_id

-- attempts --
-- How often a delivery was tried, while this fence is the last.
SELECT d.attempts FROM webhook_deliveries AS d
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.delivery_id = %(delivery_id)s::uuid
  AND d.fence = %(fence)s::bigint AND d.status = 'pending'
FOR NO KEY UPDATE

-- settle --
-- What an attempt came to: the delivery ends, or is due again later.
UPDATE webhook_deliveries AS d
SET status = %(status)s::text, lease_until = '-infinity', last_status = %(answered)s::integer, last_error = %(error)s::text,
    due_at = now() + make_interval(secs => %(wait_seconds)s::double precision), updated_at = now()
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.delivery_id = %(delivery_id)s::uuid
  AND d.fence = %(fence)s::bigint AND d.status = 'pending'

-- abandon --
-- Ends a delivery whose attempt was counted and is not made.
UPDATE webhook_deliveries AS d
SET status = 'failed', attempts = d.attempts - 1, lease_until = '-infinity', last_error = %(why)s::text, updated_at = now()
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.delivery_id = %(delivery_id)s::uuid
  AND d.fence = %(fence)s::bigint AND d.status = 'pending'

-- page --
-- A hook's deliveries, newest first, from a place on.
SELECT d.delivery_id AS id, d.event_id, d.webhook_id, d.url, e.event, d.status, d.attempts, d.due_at, d.last_error, d.last_status,
       d.last_attempt_at, d.created_at, d.updated_at
FROM webhook_deliveries AS d
JOIN webhook_events AS e ON e.tenant_id = d.tenant_id AND e.bank_id = d.bank_id AND e.event_id = d.event_id
WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.webhook_id = %(webhook_id)s::uuid
  AND (%(before)s::timestamptz IS NULL OR (d.created_at, d.delivery_id) < (%(before)s::timestamptz, %(before_id)s::uuid))
ORDER BY d.created_at DESC, d.delivery_id DESC
LIMIT %(limit)s::bigint
