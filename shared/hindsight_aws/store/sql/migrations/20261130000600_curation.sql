-- The links of one fact are found without reading all of its bank's, whatever the planner knows of the table.
-- depends: 20261130000300_links

-- With tenant and bank in front, a table without statistics was read through this index for a bank's whole width: each of the two
-- leading columns looks as selective as the fact itself. The same order serves unit_terms_unit and unit_tags_unit.
DROP INDEX memory_links_to;
CREATE INDEX memory_links_to ON memory_links (tenant_id, to_unit, bank_id, link_type);
