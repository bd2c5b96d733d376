-- add --
-- One call on a bank.
INSERT INTO audit_log (tenant_id, entry_id, bank_id, bank, action, transport, subject, status, targets, started_at, ended_at)
VALUES (%(tenant_id)s, %(entry_id)s::uuid, %(bank_id)s::uuid, %(bank)s::text, %(action)s::text, %(transport)s::text,
        %(subject)s::text, %(status)s::integer, %(targets)s::jsonb, %(started_at)s::timestamptz, %(ended_at)s::timestamptz)

-- page --
-- Calls on a bank, the latest first, with how many there are.
WITH matching AS MATERIALIZED (
    SELECT entry_id, bank_id, bank, action, transport, subject, status, targets, started_at, ended_at FROM audit_log
    WHERE tenant_id = %(tenant_id)s AND bank = %(bank)s::text
      AND (%(action)s::text IS NULL OR action = %(action)s::text)
      AND (%(transport)s::text IS NULL OR transport = %(transport)s::text)
      AND started_at >= coalesce(%(start)s::timestamptz, '-infinity') AND started_at < coalesce(%(end)s::timestamptz, 'infinity')
)
SELECT (SELECT count(*) FROM matching) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT * FROM matching ORDER BY started_at DESC, entry_id LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
) AS p ON true
ORDER BY p.started_at DESC, p.entry_id

-- view --
-- One call on a bank.
SELECT entry_id, bank_id, bank, action, transport, subject, status, targets, started_at, ended_at FROM audit_log
WHERE tenant_id = %(tenant_id)s AND bank = %(bank)s::text AND entry_id = %(entry_id)s::uuid

-- counts --
-- Calls on a bank by bucket of time, in UTC, and action.
SELECT date_trunc(%(unit)s::text, started_at, 'UTC') AS bucket, action, count(*) AS calls FROM audit_log
WHERE tenant_id = %(tenant_id)s AND bank = %(bank)s::text AND started_at >= %(start)s::timestamptz
  AND (%(action)s::text IS NULL OR action = %(action)s::text)
GROUP BY 1, 2 ORDER BY 1, 2

-- expire --
-- Removes the oldest calls on a bank that began longer ago than entries are kept.
DELETE FROM audit_log l
USING (SELECT entry_id FROM audit_log
       WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
         AND started_at < now() - make_interval(days => %(days)s::integer)
       ORDER BY started_at LIMIT %(at_most)s::bigint) AS old
WHERE l.tenant_id = %(tenant_id)s AND l.entry_id = old.entry_id
RETURNING l.entry_id
