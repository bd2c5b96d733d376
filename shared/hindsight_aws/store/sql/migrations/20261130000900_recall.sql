-- Recall by time and by entity: events that last found by their ends, an entity's facts newest first, no endless dates.
-- depends: 20261129000300_isolation 20261130000300_links

-- When a fact came to mention the entity: rows from before this migration count as of its moment.
ALTER TABLE unit_entities ADD COLUMN linked_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX unit_entities_newest ON unit_entities (tenant_id, bank_id, entity_id, linked_at DESC, unit_id);
COMMENT ON COLUMN unit_entities.linked_at IS 'recall goes from an entity to its newest facts, and no further than a cap';

-- An event at one moment is found by event_date; only what lasts, or has no beginning, needs its end.
CREATE INDEX memory_units_span ON memory_units (tenant_id, bank_id, fact_type, occurred_end, occurred_start, id)
    WHERE occurred_end IS NOT NULL AND occurred_end IS DISTINCT FROM occurred_start;

-- No client can read an endless date; rows from before are read as undated.
ALTER TABLE memory_units ADD CONSTRAINT memory_units_finite_dates
    CHECK (isfinite(event_date) AND isfinite(occurred_start) AND isfinite(occurred_end) AND isfinite(mentioned_at)) NOT VALID;
