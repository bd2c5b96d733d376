-- How often a look at near-duplicates began to ask its model: counted before it asks, so that looks which nobody ends are bounded.
-- depends: 20261130000800_schedules

ALTER TABLE compactions ADD COLUMN tries integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN compactions.tries IS 'looks that began to ask a model, those that never came to an end included';
COMMENT ON COLUMN consolidation_work.calls IS 'model calls begun about it since the row was last made pending anew, those nobody heard the answer of included';
