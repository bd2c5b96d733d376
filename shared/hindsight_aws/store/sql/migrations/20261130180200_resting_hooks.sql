-- Receivers that do not answer: how often in a row, and until when they are left alone.
-- depends: 20261130180000_next_due

ALTER TABLE webhooks ADD COLUMN failures integer NOT NULL DEFAULT 0, ADD COLUMN rests_until timestamptz;
COMMENT ON COLUMN webhooks.failures IS 'attempts at its deliveries that failed since one was taken';
COMMENT ON COLUMN webhooks.rests_until IS 'not before this is anything sent to it; null: it is not resting';
