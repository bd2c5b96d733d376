-- temporary_table_of_the_same_name --
-- A table that stands before the real one.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE TEMP TABLE tenants AS SELECT '{attacker}'::uuid AS tenant_id;
SET search_path = pg_temp, hindsight;
SELECT * FROM hindsight.tenants;
SELECT * FROM hindsight.memory_units;

-- current_setting_shadowed --
-- A function that answers in place of the one the policies ask.
CREATE FUNCTION pg_temp.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT '{victim}' $$;
SET search_path = pg_temp, hindsight, pg_catalog;
SELECT * FROM hindsight.memory_units;

-- current_setting_replaced --
-- The server's own function replaced.
CREATE OR REPLACE FUNCTION pg_catalog.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT '{victim}' $$;
SELECT * FROM memory_units;

-- equality_shadowed --
-- An operator that finds every two ids equal.
CREATE FUNCTION pg_temp.alike(uuid, uuid) RETURNS boolean LANGUAGE sql IMMUTABLE LEAKPROOF AS 'SELECT true';
CREATE FUNCTION pg_temp.alike(uuid, uuid) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR pg_temp.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = pg_temp.alike);
SET search_path = pg_temp, hindsight, pg_catalog;
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM hindsight.memory_units WHERE tenant_id OPERATOR(pg_temp.=) '{victim}';

-- cast_replaced --
-- A cast from text to uuid that gives the victim.
CREATE FUNCTION pg_temp.to_victim(text) RETURNS uuid LANGUAGE sql AS $$ SELECT '{victim}' $$;
CREATE CAST (text AS uuid) WITH FUNCTION pg_temp.to_victim(text) AS IMPLICIT;
SELECT * FROM memory_units;

-- type_shadowed --
-- A type that stands before uuid.
CREATE DOMAIN pg_temp.uuid AS text;
SET search_path = pg_temp, hindsight, pg_catalog;
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM hindsight.memory_units;

-- schema_of_ones_own --
-- A schema that stands before the product's.
CREATE SCHEMA intruder;
CREATE FUNCTION public.nullif(text, text) RETURNS text LANGUAGE sql AS $$ SELECT '{victim}' $$;
SELECT * FROM memory_units;

-- function_in_the_products_schema --
-- A function among those of the product.
CREATE FUNCTION hindsight.f() RETURNS SETOF memory_units LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM hindsight.memory_units';
SELECT * FROM hindsight.f();

-- crossing_replaced --
-- The first function that may cross tenants, with another body.
CREATE OR REPLACE FUNCTION hindsight.resolve_key(wanted bytea) RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS 'SELECT external_id FROM hindsight.banks';
SELECT * FROM hindsight.resolve_key('\x00');

-- crossing_altered --
-- The same with other attributes.
ALTER FUNCTION hindsight.due_work(integer, boolean, boolean) RESET search_path;
ALTER FUNCTION hindsight.due_work(integer, boolean, boolean) OWNER TO CURRENT_USER;
SELECT * FROM banks;

-- crossing_with_no_key --
-- Keys that are no hash of any.
SELECT * FROM resolve_key(NULL);
SELECT * FROM resolve_key('');
SELECT * FROM resolve_key(decode(repeat('ff', 4096), 'hex'));

-- crossing_with_sql_in_it --
-- SQL for a hash.
SELECT * FROM resolve_key(convert_to(''' OR true --', 'UTF8'));

-- crossing_with_every_digest --
-- Hashes of what a key might be.
SELECT k.* FROM generate_series(0, 255) AS n CROSS JOIN LATERAL resolve_key(sha256(decode(lpad(to_hex(n), 2, '0'), 'hex'))) AS k;

-- work_without_limit --
-- All the work there is, and the rows behind it.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT o.* FROM due_work(NULL::integer, true, true) AS w JOIN operations AS o USING (bank_id);
SELECT b.* FROM due_work(2147483647, true, true) AS w JOIN banks AS b USING (bank_id);

-- work_with_a_limit_below_nothing --
-- A limit that is no limit.
SELECT * FROM due_work(-1, true, true);

-- work_of_later_kinds --
-- The later overloads with values at their ends.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT b.* FROM due_work(100, 2147483647) AS w JOIN banks AS b USING (bank_id);
SELECT b.* FROM due_work(100, 'infinity'::double precision) AS w JOIN banks AS b USING (bank_id);
SELECT b.* FROM due_work(100, 'infinity'::timestamptz) AS w JOIN banks AS b USING (bank_id);
SELECT b.* FROM due_work(100) AS w JOIN banks AS b USING (bank_id);

-- work_with_tables_of_ones_own --
-- Tables that stand before those the function reads.
CREATE TEMP TABLE operations AS SELECT '{victim}'::uuid AS tenant_id;
SET search_path = pg_temp, hindsight;
SELECT w.kind, b.* FROM hindsight.due_work(100, true, true) AS w LEFT JOIN hindsight.banks AS b USING (bank_id);

-- leak_by_conversion_to_json --
-- Errors that quote what they cannot read.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT 1 FROM memory_units WHERE text::json IS NOT NULL AND tenant_id = '{victim}';

-- leak_by_conversion_to_a_date --
-- Errors that quote what is no date.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT 1 FROM memory_units WHERE text::timestamptz > now() AND tenant_id = '{victim}';

-- leak_by_conversion_to_an_address --
-- Errors that quote what is no address.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT 1 FROM documents WHERE original_text::inet IS NOT NULL AND tenant_id = '{victim}';

-- leak_by_a_regular_expression --
-- Rows as patterns.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT 1 FROM memory_units WHERE 'x' ~ ('(' || text) AND tenant_id = '{victim}';

-- leak_by_order --
-- A function that tells what is sorted.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
SELECT 1 FROM memory_units ORDER BY pg_temp.leak(text);
SELECT count(*) FROM memory_units GROUP BY pg_temp.leak(text);
SELECT 1 FROM memory_units GROUP BY text HAVING pg_temp.leak(text);

-- leak_by_a_join --
-- A function that tells what is joined.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
SELECT 1 FROM banks AS b JOIN memory_units AS u ON pg_temp.leak(u.text) AND pg_temp.leak(b.name);

-- leak_by_a_filter_or_window --
-- A function that tells what is counted.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
SELECT count(*) FILTER (WHERE pg_temp.leak(text)) OVER (PARTITION BY pg_temp.leak(context)) FROM memory_units;

-- leak_by_a_function_that_says_it_does_not --
-- Only a superuser may call a function leakproof.
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql LEAKPROOF AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT 1 FROM memory_units WHERE pg_temp.leak(text);

-- leak_by_an_aggregate --
-- A sum that tells its parts.
CREATE FUNCTION pg_temp.tell(a text, t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', t; RETURN t; END $$;
CREATE AGGREGATE pg_temp.told(text) (SFUNC = pg_temp.tell, STYPE = text);
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT pg_temp.told(text) FROM memory_units;

-- leak_while_changing --
-- A function that tells what is about to be changed.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
UPDATE banks SET name = name WHERE pg_temp.leak(name) AND tenant_id = '{victim}';
DELETE FROM banks WHERE pg_temp.leak(name) AND tenant_id = '{victim}';

-- leak_by_an_index --
-- An index over what a function tells.
CREATE FUNCTION pg_temp.leak(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '%', t; RETURN t; END $$;
CREATE INDEX ON memory_units (pg_temp.leak(text));

-- leak_by_a_check --
-- A check that is put to every row.
ALTER TABLE memory_units ADD CONSTRAINT told CHECK (text::integer > 0);
ALTER TABLE memory_units ADD COLUMN told text GENERATED ALWAYS AS (text) STORED;

-- oracle_of_time --
-- A wait for each row that is there.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT '{mark}' FROM memory_units WHERE tenant_id = '{victim}' AND pg_sleep(0.001) IS NOT NULL;

-- oracle_of_a_primary_key --
-- A key that the victim has is free for another tenant.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
INSERT INTO banks (tenant_id, bank_id, external_id) VALUES ('{attacker}', '{bank_id}', 'x') RETURNING name;
ROLLBACK;

-- oracle_of_a_conflict --
-- What an insert says that would meet the victim's row.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
INSERT INTO banks AS b (tenant_id, bank_id, external_id) VALUES ('{victim}', '{bank_id}', 'x') ON CONFLICT DO NOTHING RETURNING *;
ROLLBACK;

-- oracle_of_a_foreign_key --
-- A row that hangs on the victim's.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
INSERT INTO documents (tenant_id, bank_id, document_id, external_id) VALUES ('{attacker}', '{bank_id}', gen_random_uuid(), 'x') RETURNING *;
ROLLBACK;

-- oracle_of_a_deferred_check --
-- The same, told at the end.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
SET CONSTRAINTS ALL DEFERRED;
INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id) VALUES ('{attacker}', '{bank_id}', 'x', '{fact}');
COMMIT;

-- oracle_of_an_exclusive_lock --
-- A lock that would wait for the victim's row.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
SELECT * FROM memory_units WHERE id = '{fact}' FOR UPDATE NOWAIT;
SELECT * FROM memory_units WHERE id = '{fact}' FOR SHARE SKIP LOCKED;
ROLLBACK;

-- statistics_of_ones_own --
-- Statistics over columns of the product.
CREATE STATISTICS told (mcv) ON text, context FROM memory_units;
ANALYZE memory_units;
SELECT * FROM pg_stats_ext;

-- estimates --
-- What the planner thinks of the victim's words.
SELECT set_config('app.tenant_id', '{attacker}', false);
EXPLAIN (VERBOSE, SETTINGS) SELECT text FROM memory_units WHERE tenant_id = '{victim}' AND text LIKE 'X%';
EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT text FROM memory_units WHERE tenant_id = '{victim}';

-- counters_of_the_server --
-- What the server counts of everybody.
SELECT * FROM pg_stat_user_tables;
SELECT * FROM pg_statio_user_indexes;
SELECT relname, reltuples FROM pg_class;

-- catalogue_of_secrets --
-- Tables of the server that hold secrets.
SELECT * FROM pg_authid;
SELECT * FROM pg_shadow;
SELECT * FROM pg_user_mapping;
SELECT * FROM pg_subscription;

-- catalogue_of_values --
-- Tables of the server that hold values of columns.
SELECT * FROM pg_statistic_ext_data;
SELECT * FROM pg_largeobject;
SELECT * FROM pg_description;
SELECT * FROM pg_seclabels;

-- catalogue_changed --
-- To write what the server knows of a table.
UPDATE pg_class SET relforcerowsecurity = false, relrowsecurity = false WHERE relname = 'memory_units';
DELETE FROM pg_policy;
SELECT * FROM memory_units;

-- hidden_columns --
-- Where the rows lie.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT ctid, xmin, tableoid::regclass, * FROM memory_units WHERE ctid = '(0,1)';
SELECT u FROM memory_units AS u;

-- pages --
-- The pages themselves.
CREATE EXTENSION pageinspect;
SELECT * FROM heap_page_items(get_raw_page('hindsight.memory_units', 0));
CREATE EXTENSION pg_visibility;

-- other_databases --
-- A connection to oneself as somebody else.
CREATE EXTENSION dblink;
SELECT * FROM dblink('user=postgres', 'SELECT text FROM hindsight.memory_units') AS t (text text);
CREATE EXTENSION postgres_fdw;
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw;

-- untrusted_languages --
-- Code that runs as the server.
CREATE EXTENSION plpython3u;
LOAD 'auto_explain';
CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE c AS 'libc', 'getpid';

-- files_of_the_server --
-- Files beneath the tables.
SELECT pg_read_binary_file(pg_relation_filepath('hindsight.memory_units'));
SELECT pg_stat_file('PG_VERSION');
COPY memory_units TO 'rows.copy';
CREATE TEMP TABLE lines (line text);
COPY lines FROM PROGRAM 'cat /etc/hostname';
COPY lines FROM '/etc/hostname';

-- write_ahead_log --
-- What is written before it is stored.
SELECT pg_create_logical_replication_slot('s', 'test_decoding');
SELECT * FROM pg_logical_slot_get_changes('s', NULL, NULL);
CREATE PUBLICATION p FOR ALL TABLES;

-- large_objects --
-- Objects that no policy guards.
SELECT lo_create(424242);
SELECT lo_get(loid) FROM (SELECT oid AS loid FROM pg_largeobject_metadata) AS o;
SELECT lo_unlink(424242);

-- sequences --
-- Numbers that all tenants share say nothing of whose they are.
SELECT nextval('observation_revisions_sequence_seq'), '{attacker}';
SELECT setval('observation_revisions_sequence_seq', 1);
SELECT * FROM pg_sequences;

-- anonymous_block --
-- A block that reads row by row.
SELECT set_config('app.tenant_id', '{attacker}', false);
DO $$ DECLARE r record; BEGIN FOR r IN SELECT text FROM hindsight.memory_units LOOP RAISE NOTICE '%', r.text; END LOOP; END $$;

-- anonymous_block_that_changes_roles --
-- A block that swallows each refusal.
DO $$ DECLARE r record; BEGIN BEGIN SET LOCAL ROLE hindsight_owner; EXCEPTION WHEN OTHERS THEN NULL; END; FOR r IN SELECT text FROM hindsight.memory_units LOOP RAISE NOTICE '%', r.text; END LOOP; END $$;

-- anonymous_block_over_every_table --
-- A block that reads every table as XML.
SELECT set_config('app.tenant_id', '{attacker}', false);
DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'hindsight'::regnamespace AND relkind = 'r' LOOP BEGIN RAISE NOTICE '%', query_to_xml(format('SELECT * FROM hindsight.%I', t), true, false, ''); EXCEPTION WHEN insufficient_privilege THEN NULL; END; END LOOP; END $$;

-- whole_schema_as_xml --
-- Functions that read whatever they may.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT table_to_xml('hindsight.memory_units', true, false, '');
SELECT schema_to_xml('hindsight', true, false, '');

-- event_trigger --
-- A function at every change of the schema.
CREATE FUNCTION pg_temp.f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'x'; END $$;
CREATE EVENT TRIGGER t ON ddl_command_start EXECUTE FUNCTION pg_temp.f();

-- inheritance --
-- A table that is part of another.
CREATE TEMP TABLE child () INHERITS (hindsight.memory_units);
SELECT * FROM ONLY memory_units;
ALTER TABLE memory_units INHERIT pg_temp.child;

-- materialised_view --
-- Rows kept by another name.
CREATE MATERIALIZED VIEW public.m AS SELECT * FROM hindsight.memory_units;
CREATE VIEW public.v WITH (security_invoker = false) AS SELECT * FROM hindsight.memory_units;
SELECT * FROM public.v;

-- view_of_a_temporary_schema --
-- A view that is read after the tenant changes.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE TEMP VIEW v WITH (security_barrier = false) AS SELECT text FROM hindsight.memory_units;
SELECT set_config('app.tenant_id', '{unknown}', false);
SELECT * FROM v;

-- set_returning_in_the_list --
-- Rows within rows.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT (SELECT jsonb_agg(u) FROM memory_units AS u), ARRAY(SELECT name FROM banks), EXISTS (SELECT FROM banks WHERE name = '{mark}') FROM tenants;

-- except_and_intersect --
-- Sets without their own part.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT text FROM memory_units EXCEPT SELECT text FROM memory_units WHERE tenant_id = '{attacker}';

-- data_changing_query --
-- A change whose answer is read.
SELECT set_config('app.tenant_id', '{attacker}', false);
WITH gone AS (DELETE FROM entities WHERE tenant_id = '{victim}' RETURNING *) SELECT * FROM gone;
WITH held AS MATERIALIZED (SELECT * FROM memory_units) SELECT * FROM held;

-- rows_moved_in --
-- A row of the victim's copied into one's own bank.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
INSERT INTO directives (tenant_id, bank_id, directive_id, name, content, tags) SELECT '{attacker}', b.bank_id, gen_random_uuid(), d.name, d.content, d.tags FROM directives AS d CROSS JOIN banks AS b WHERE d.tenant_id = '{victim}' RETURNING *;
ROLLBACK;

-- rows_moved_out --
-- A row of one's own written for the victim.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
INSERT INTO directives (tenant_id, bank_id, directive_id, name, content, tags) SELECT '{victim}', '{bank_id}', gen_random_uuid(), 'n', 'c', ARRAY[]::text[] RETURNING *;
COMMIT;

-- merge_over_everything --
-- One statement that reads, changes and adds.
SELECT set_config('app.tenant_id', '{attacker}', false);
MERGE INTO directives AS d USING memory_units AS u ON d.bank_id = u.bank_id WHEN MATCHED THEN UPDATE SET content = u.text RETURNING d.*;

-- trigger_of_ones_own --
-- A function at every row.
CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', NEW; RETURN NEW; END $$;
CREATE TRIGGER t AFTER UPDATE ON banks FOR EACH ROW EXECUTE FUNCTION pg_temp.f();
ALTER TABLE banks DISABLE TRIGGER ALL;

-- policy_changed --
-- The policy itself with another rule.
ALTER POLICY tenant_isolation ON memory_units USING (true);
ALTER POLICY tenant_isolation ON banks TO hindsight_router;
SELECT * FROM memory_units;

-- schema_of_migrations --
-- What the migrator writes down.
DELETE FROM _yoyo_migration;
SELECT * FROM hindsight._yoyo_log;
DROP TABLE hindsight._yoyo_version;

-- tenants_listed --
-- Who else there is.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT name FROM tenants;
SELECT tenant_id, count(*), '{mark}' FROM memory_units GROUP BY tenant_id HAVING tenant_id <> '{attacker}';

-- maintenance --
-- Commands over whole tables.
VACUUM memory_units;
CLUSTER memory_units;
REINDEX TABLE memory_units;
LOCK TABLE api_keys IN ACCESS SHARE MODE;
