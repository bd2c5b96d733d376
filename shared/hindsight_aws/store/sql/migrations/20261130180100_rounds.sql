-- What consolidation that runs by itself did lately, for those who are told when it has come to an end.
-- depends: 20261130180000_next_due

CREATE INDEX consolidation_runs_finished ON consolidation_runs (tenant_id, bank_id, finished_at);
