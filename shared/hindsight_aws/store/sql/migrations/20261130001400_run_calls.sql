-- The model calls of a reflect run, found by its id: what an answer cost is read when it is written.
-- depends: 20261130000900_recall

CREATE INDEX usage_ledger_run ON usage_ledger (tenant_id, run_id) WHERE run_id IS NOT NULL;
