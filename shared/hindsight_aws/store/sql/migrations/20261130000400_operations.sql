-- Operations that outlive a provider's outage, know what they cost, and go when they are old.
-- depends: 20261129000300_isolation

ALTER TABLE operations
    ADD COLUMN revivals integer NOT NULL DEFAULT 0,
    ADD COLUMN yields boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN operations.revivals IS 'rounds of attempts that came to nothing and were followed by a long wait';
COMMENT ON COLUMN operations.yields IS 'waits long for a fault to pass: later operations on its documents go first';

-- What an operation paid for, whichever of its attempts did: its row says the sum when it ends.
CREATE INDEX usage_ledger_operation ON usage_ledger (tenant_id, operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX operations_ended ON operations (completed_at) WHERE completed_at IS NOT NULL;

-- Banks with ended operations older than may be kept (0 days: for ever), those with the oldest first.
CREATE FUNCTION due_work(at_most integer, retention_days integer)
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT o.tenant_id, 'expired', o.bank_id, o.bank_id
    FROM operations o
    WHERE retention_days > 0 AND o.completed_at < now() - make_interval(days => retention_days) AND o.parent_id IS NULL
    GROUP BY o.tenant_id, o.bank_id ORDER BY min(o.completed_at) LIMIT at_most
$$;

REVOKE ALL ON FUNCTION due_work(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, integer) TO hindsight_write;
ALTER FUNCTION due_work(integer, integer) OWNER TO hindsight_router;
