-- What a running reflect run has to remember: that memory was deleted under it, and which model calls it has begun.
-- depends: 20261130001300_run_kinds

ALTER TABLE reflect_runs ADD COLUMN forgotten_at timestamptz;
COMMENT ON COLUMN reflect_runs.forgotten_at IS 'memory was deleted while the run went on: it is not joined any more, and what it read goes when it ends';

ALTER TABLE reflect_runs ADD COLUMN open_calls text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN reflect_runs.open_calls IS 'model calls that were begun and of whose end nothing was written yet, as turn/step';

ALTER TABLE reflect_runs ADD COLUMN lost_calls integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN reflect_runs.lost_calls IS 'model calls whose process died before it wrote what became of them';
