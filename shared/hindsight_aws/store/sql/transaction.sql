-- begin --
-- Opens a transaction that may write.
BEGIN

-- bind_tenant --
-- Shows row-level security the tenant, and bounds each statement's time, until the transaction ends.
SELECT set_config('app.tenant_id', %(tenant_id)s::text, true), set_config('statement_timeout', %(timeout_ms)s::text, true)

-- commit --
-- Ends the transaction; what it wrote is there for all.
COMMIT

-- rollback --
-- Ends the transaction; nothing it wrote remains.
ROLLBACK
