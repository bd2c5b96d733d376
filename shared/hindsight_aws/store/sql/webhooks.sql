-- tell --
-- Events that somebody may be told of; one that is there already stays as it is.
INSERT INTO webhook_events (tenant_id, bank_id, event_id, event, operation_id, status, data)
SELECT %(tenant_id)s, %(bank_id)s::uuid, e.event_id, e.event, e.operation_id, e.status, e.data
FROM jsonb_to_recordset(%(events)s::jsonb) AS e (event_id uuid, event text, operation_id uuid, status text, data jsonb)
ORDER BY e.event_id
ON CONFLICT DO NOTHING
