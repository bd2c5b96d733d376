-- The queue of link maintenance holds facts and entities, and never makes two writers wait for each other.
-- depends: 20261129000300_isolation

-- An entry of its own for each loss: no unique key on what is lost and no reference to it, so that two deletions which queue
-- the same fact, or each other's, hold no lock on one another. What is gone by the time it is looked at is skipped.
ALTER TABLE link_maintenance
    DROP CONSTRAINT link_maintenance_pkey,
    DROP CONSTRAINT link_maintenance_tenant_id_bank_id_unit_id_fkey;
ALTER TABLE link_maintenance RENAME COLUMN unit_id TO item_id;
ALTER TABLE link_maintenance
    ADD COLUMN entry_id uuid NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN kind text NOT NULL DEFAULT 'fact' CHECK (kind IN ('fact', 'entity')),
    ADD PRIMARY KEY (tenant_id, bank_id, entry_id),
    ADD FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE;
CREATE INDEX link_maintenance_item ON link_maintenance (tenant_id, bank_id, kind, item_id, due_at);
CREATE INDEX link_maintenance_due ON link_maintenance (due_at);
COMMENT ON COLUMN link_maintenance.item_id IS 'a fact that lost a neighbour, or an entity that lost a fact';

-- With the id at its end the index finds the next facts in time even where thousands share an instant.
DROP INDEX memory_units_event;
CREATE INDEX memory_units_event ON memory_units (tenant_id, bank_id, fact_type, event_date, id) WHERE event_date IS NOT NULL;
