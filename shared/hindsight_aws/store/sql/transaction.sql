-- begin --
-- Opens a transaction that may write.
BEGIN

-- begin_snapshot --
-- Opens a transaction whose statements all see the same moment.
BEGIN ISOLATION LEVEL REPEATABLE READ

-- bind_tenant --
-- Shows row-level security the tenant, and bounds each statement's time, until the transaction ends.
SELECT set_config('app.tenant_id', %(tenant_id)s::text, true), set_config('statement_timeout', %(timeout_ms)s::text, true)

-- commit --
-- Ends the transaction; what it wrote is there for all.
COMMIT

-- rollback --
-- Ends the transaction; nothing it wrote remains.
ROLLBACK

-- mark --
-- Marks where the transaction goes on if what follows takes too long.
SAVEPOINT mark

-- back_to_mark --
-- Takes the transaction back to the mark, with the settings it had there; the mark stays.
ROLLBACK TO SAVEPOINT mark

-- mark_part --
-- Marks where a part of the transaction begins whose time is bounded.
SAVEPOINT part

-- bound_part --
-- Bounds each statement's time from here on.
SELECT set_config('statement_timeout', %(timeout_ms)s::text, true)

-- back_to_part --
-- Takes the transaction, with its settings, back to where the part began.
ROLLBACK TO SAVEPOINT part
