-- How many model calls a fact has cost in a scope: the bound on them holds whatever the answers were.
-- depends: 20261129000300_isolation

ALTER TABLE consolidation_work ADD COLUMN calls integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN consolidation_work.calls IS 'answers that settled nothing since the row was last made pending anew';
