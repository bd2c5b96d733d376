-- find --
-- The tenant's limits.
SELECT requests_per_minute, requests_per_day, tokens_per_day, usd_per_day, alert_share FROM tenant_limits WHERE tenant_id = %(tenant_id)s

-- find_alone --
-- Waits for its turn where the tenant has limits on model calls; whoever has it decides alone until its commit.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', 'limits', tenant_id::text), 0))::text AS alone
FROM tenant_limits WHERE tenant_id = %(tenant_id)s AND (tokens_per_day IS NOT NULL OR usd_per_day IS NOT NULL)

-- alone --
-- Whoever changes the limits, or says what they let through, does so alone until its commit.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', 'limits', %(tenant_id)s::text), 0))

-- set --
-- The tenant's limits, whatever they were.
INSERT INTO tenant_limits (tenant_id, requests_per_minute, requests_per_day, tokens_per_day, usd_per_day, alert_share)
VALUES (%(tenant_id)s, %(requests_per_minute)s::integer, %(requests_per_day)s::integer, %(tokens_per_day)s::bigint,
        %(usd_per_day)s::numeric, %(alert_share)s::numeric)
ON CONFLICT (tenant_id) DO UPDATE
SET requests_per_minute = excluded.requests_per_minute, requests_per_day = excluded.requests_per_day,
    tokens_per_day = excluded.tokens_per_day, usd_per_day = excluded.usd_per_day, alert_share = excluded.alert_share, updated_at = now()

-- clear --
-- The tenant has no limits any more.
DELETE FROM tenant_limits WHERE tenant_id = %(tenant_id)s

-- unpark --
-- The tenant's model work goes on.
DELETE FROM tenant_parking WHERE tenant_id = %(tenant_id)s

-- added_up --
-- What of a day is added up, and until when.
SELECT upto, tokens, usd, unpriced_input, unpriced_output, requests FROM spend_days
WHERE tenant_id = %(tenant_id)s AND day_start = %(start)s::timestamptz

-- spent --
-- What the ledger holds of a time; `settled` counts lines that no open transaction can come before any more.
SELECT coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0)::bigint AS tokens,
       coalesce(sum(usd), 0) AS usd,
       coalesce(sum(input_tokens + cache_read_tokens + cache_write_tokens) FILTER (WHERE usd IS NULL), 0)::bigint AS unpriced_input,
       coalesce(sum(output_tokens) FILTER (WHERE usd IS NULL), 0)::bigint AS unpriced_output,
       coalesce(sum(calls) FILTER (WHERE task = 'requests'), 0)::bigint AS requests,
       count(*) FILTER (WHERE at < now() - interval '16 minutes') AS settled
FROM usage_ledger
WHERE tenant_id = %(tenant_id)s AND at >= %(since)s::timestamptz AND at < %(end)s::timestamptz

-- add_up --
-- Adds up a day as far as it is settled; whoever comes later with less changes nothing.
INSERT INTO spend_days AS s (tenant_id, day_start, upto, tokens, usd, unpriced_input, unpriced_output, requests)
SELECT %(tenant_id)s, %(start)s::timestamptz, now() - interval '16 minutes',
       coalesce(d.tokens, 0) + coalesce(sum(l.input_tokens + l.output_tokens + l.cache_read_tokens + l.cache_write_tokens), 0),
       coalesce(d.usd, 0) + coalesce(sum(l.usd), 0),
       coalesce(d.unpriced_input, 0)
           + coalesce(sum(l.input_tokens + l.cache_read_tokens + l.cache_write_tokens) FILTER (WHERE l.usd IS NULL), 0),
       coalesce(d.unpriced_output, 0) + coalesce(sum(l.output_tokens) FILTER (WHERE l.usd IS NULL), 0),
       coalesce(d.requests, 0) + coalesce(sum(l.calls) FILTER (WHERE l.task = 'requests'), 0)
FROM (SELECT 1) AS one
LEFT JOIN spend_days d ON d.tenant_id = %(tenant_id)s AND d.day_start = %(start)s::timestamptz
LEFT JOIN usage_ledger l ON l.tenant_id = %(tenant_id)s AND l.at >= coalesce(d.upto, %(start)s::timestamptz)
    AND l.at < least(now() - interval '16 minutes', %(end)s::timestamptz)
GROUP BY d.tokens, d.usd, d.unpriced_input, d.unpriced_output, d.requests
ON CONFLICT (tenant_id, day_start) DO UPDATE
SET upto = excluded.upto, tokens = excluded.tokens, usd = excluded.usd, unpriced_input = excluded.unpriced_input,
    unpriced_output = excluded.unpriced_output, requests = excluded.requests
WHERE s.upto < excluded.upto

-- requests --
-- How many requests were counted since a time, and since the minute began.
SELECT coalesce(sum(calls), 0)::bigint AS of_day, coalesce(sum(calls) FILTER (WHERE at >= %(minute)s::timestamptz), 0)::bigint AS of_minute
FROM usage_ledger
WHERE tenant_id = %(tenant_id)s AND task = 'requests' AND at >= %(since)s::timestamptz AND at < %(end)s::timestamptz

-- reserved --
-- The most that calls under way may cost, those of one unit of work left out.
SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0)::bigint AS tokens
FROM spend_holds
WHERE tenant_id = %(tenant_id)s AND expires_at > %(now)s::timestamptz
  AND (%(but)s::uuid IS NULL OR hold_id <> %(but)s::uuid)

-- drop_expired --
-- Reservations whose workers are long dead.
DELETE FROM spend_holds WHERE tenant_id = %(tenant_id)s AND expires_at <= %(now)s::timestamptz

-- reserve --
-- The most that the calls of a unit of work may cost.
INSERT INTO spend_holds (tenant_id, hold_id, usd, tokens, expires_at)
VALUES (%(tenant_id)s, %(reservation_id)s::uuid, %(usd)s::numeric, %(tokens)s::bigint, %(until)s::timestamptz)
ON CONFLICT (tenant_id, hold_id) DO UPDATE
SET usd = excluded.usd, tokens = excluded.tokens, expires_at = excluded.expires_at

-- release --
-- The calls of a unit of work are in the ledger.
DELETE FROM spend_holds WHERE tenant_id = %(tenant_id)s AND hold_id = %(reservation_id)s::uuid

-- standing --
-- Whether there are limits on model calls, and why model work waits; no row when neither is so.
SELECT coalesce(l.is_bounded, false) AS is_bounded, k.parked_until, k.limit_name, k.reason
FROM (SELECT parked_until, limit_name, reason FROM tenant_parking
      WHERE tenant_id = %(tenant_id)s AND parked_until > %(now)s::timestamptz) AS k
FULL JOIN (SELECT true AS is_bounded FROM tenant_limits
           WHERE tenant_id = %(tenant_id)s AND (tokens_per_day IS NOT NULL OR usd_per_day IS NOT NULL)) AS l ON true

-- park --
-- Model work waits; work that is parked already keeps the time since when.
INSERT INTO tenant_parking AS k (tenant_id, parked_until, limit_name, reason, since)
VALUES (%(tenant_id)s, %(until)s::timestamptz, %(limit_name)s::text, %(reason)s::text, %(now)s::timestamptz)
ON CONFLICT (tenant_id) DO UPDATE
SET parked_until = excluded.parked_until, limit_name = excluded.limit_name, reason = excluded.reason,
    since = CASE WHEN k.parked_until > excluded.since THEN k.since ELSE excluded.since END

-- alert --
-- Limits of a day of which much is used: each once for a day and a share.
INSERT INTO limit_alerts (tenant_id, day, limit_name, share, spent, cap)
SELECT %(tenant_id)s, %(day)s::date, a.limit_name, a.share, a.spent, a.cap
FROM jsonb_to_recordset(%(alerts)s::jsonb) AS a (limit_name text, share numeric, spent numeric, cap numeric)
ORDER BY a.limit_name, a.share
ON CONFLICT DO NOTHING

-- take_alerts --
-- Alerts that nobody was told of are told now.
UPDATE limit_alerts a SET told_at = now()
FROM (SELECT u.day, u.limit_name, u.share FROM limit_alerts u
      WHERE u.tenant_id = %(tenant_id)s AND u.told_at IS NULL
      ORDER BY u.day, u.limit_name, u.share FOR NO KEY UPDATE SKIP LOCKED) AS untold
WHERE a.tenant_id = %(tenant_id)s AND a.day = untold.day AND a.limit_name = untold.limit_name AND a.share = untold.share
RETURNING a.limit_name, a.share, a.spent, a.cap
