-- no_setting --
-- No setting.
SELECT * FROM memory_units;

-- empty_setting --
-- Empty setting.
SELECT set_config('app.tenant_id', '', false);
SELECT * FROM memory_units;

-- blank_setting --
-- Blank setting.
SELECT set_config('app.tenant_id', '  ', false);
SELECT * FROM memory_units;

-- setting_that_is_no_uuid --
-- Setting that is no uuid.
SELECT set_config('app.tenant_id', 'x', false);
SELECT * FROM memory_units;

-- setting_with_sql_in_it --
-- Setting with sql in it.
SELECT set_config('app.tenant_id', ''' OR true --', false);
SELECT * FROM memory_units;

-- setting_with_a_wildcard --
-- Setting with a wildcard.
SELECT set_config('app.tenant_id', '%', false);
SELECT * FROM memory_units;

-- setting_with_two_tenants --
-- Setting with two tenants.
SELECT set_config('app.tenant_id', '{attacker},{victim}', false);
SELECT * FROM memory_units;

-- forged_setting --
-- Forged setting.
SELECT set_config('app.tenant_id', '{unknown}', false);
SELECT * FROM memory_units;

-- nil_setting --
-- Nil setting.
SELECT set_config('app.tenant_id', '00000000-0000-0000-0000-000000000000', false);
SELECT * FROM memory_units;

-- another_name_for_the_setting --
-- Another name for the setting.
SELECT set_config('app.tenant', '{victim}', false);
SELECT * FROM memory_units;

-- set_local_outside_a_transaction --
-- Set local outside a transaction.
SET LOCAL app.tenant_id = '{victim}';
SELECT * FROM memory_units;

-- reset --
-- Reset.
SELECT set_config('app.tenant_id', '{attacker}', false);
RESET app.tenant_id;
SELECT * FROM memory_units;

-- reset_all --
-- Reset all.
SELECT set_config('app.tenant_id', '{attacker}', false);
RESET ALL;
SET search_path = hindsight, public;
SELECT * FROM memory_units;

-- discard_all --
-- Discard all.
SELECT set_config('app.tenant_id', '{attacker}', false);
DISCARD ALL;
SET search_path = hindsight, public;
SELECT * FROM memory_units;

-- after_an_error_on_the_connection --
-- After an error on the connection.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
SELECT 1/0;
ROLLBACK;
SELECT * FROM memory_units;

-- inside_a_failed_transaction --
-- Inside a failed transaction.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
SELECT 1/0;
SELECT * FROM memory_units;
ROLLBACK;

-- after_a_commit --
-- After a commit.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
COMMIT;
SELECT * FROM memory_units;

-- after_a_rollback --
-- After a rollback.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
ROLLBACK;
SELECT * FROM memory_units;

-- after_a_savepoint_was_undone --
-- After a savepoint was undone.
BEGIN;
SAVEPOINT s;
SELECT set_config('app.tenant_id', '{victim}', true);
ROLLBACK TO s;
SELECT * FROM memory_units;
COMMIT;

-- no_predicate --
-- No predicate.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM memory_units;

-- predicate_of_the_victim --
-- Predicate of the victim.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM memory_units WHERE tenant_id = '{victim}';

-- always_true --
-- Always true.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM memory_units WHERE tenant_id = '{victim}' OR true;

-- by_primary_key --
-- By primary key.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM memory_units WHERE id = '{fact}';

-- union --
-- Union.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT text FROM memory_units UNION ALL SELECT external_id FROM banks UNION ALL SELECT name FROM tenants;

-- lateral --
-- Lateral.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT u.* FROM banks AS b CROSS JOIN LATERAL (SELECT * FROM memory_units) AS u;

-- recursion --
-- Recursion.
SELECT set_config('app.tenant_id', '{attacker}', false);
WITH RECURSIVE r AS (SELECT id, text FROM memory_units UNION SELECT o.observation_id, o.quote FROM observation_evidence AS o JOIN r ON true) SELECT * FROM r;

-- aggregate --
-- Aggregate.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT string_agg(text, ',') FROM memory_units;
SELECT max(text), min(text) FROM memory_units;

-- count --
-- Count.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT '{mark}' WHERE (SELECT count(*) FROM memory_units WHERE tenant_id = '{victim}') > 0;

-- sample --
-- Sample.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM memory_units TABLESAMPLE SYSTEM (100);

-- vector_index --
-- Vector index.
SELECT set_config('app.tenant_id', '{attacker}', false);
SET enable_seqscan = off;
SELECT text FROM memory_units WHERE fact_type = 'world' ORDER BY embedding <=> (SELECT embedding FROM memory_units LIMIT 1) LIMIT 10;

-- postings --
-- Postings.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM unit_terms JOIN memory_units USING (bank_id) WHERE term LIKE '%';

-- for_update --
-- For update.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM memory_units FOR UPDATE;

-- set_role_owner --
-- Set role owner.
SET ROLE hindsight_owner;
SELECT * FROM memory_units;

-- set_role_router --
-- Set role router.
SET ROLE hindsight_router;
SELECT * FROM operations;
SELECT * FROM banks;

-- session_authorization --
-- Session authorization.
SET SESSION AUTHORIZATION postgres;
SELECT * FROM memory_units;

-- row_security_off --
-- Row security off.
SELECT set_config('app.tenant_id', '{attacker}', false);
SET row_security = off;
SELECT * FROM memory_units;

-- replication_role --
-- Replication role.
SET session_replication_role = replica;
SELECT * FROM memory_units;

-- disable_policies --
-- Disable policies.
ALTER TABLE memory_units DISABLE ROW LEVEL SECURITY;
SELECT * FROM memory_units;

-- unforce_policies --
-- Unforce policies.
ALTER TABLE memory_units NO FORCE ROW LEVEL SECURITY;
SELECT * FROM memory_units;

-- drop_policy --
-- Drop policy.
DROP POLICY tenant_isolation ON memory_units;
SELECT * FROM memory_units;

-- permissive_policy --
-- Permissive policy.
CREATE POLICY all_of_it ON memory_units USING (true);
SELECT * FROM memory_units;

-- bypass_attribute --
-- Bypass attribute.
ALTER ROLE CURRENT_USER BYPASSRLS;
SELECT * FROM memory_units;

-- grant_oneself --
-- Grant oneself.
GRANT hindsight_owner TO CURRENT_USER;
SET ROLE hindsight_owner;
SELECT * FROM memory_units;

-- temporary_view --
-- Temporary view.
CREATE TEMP VIEW v AS SELECT * FROM memory_units;
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM v;

-- temporary_table --
-- Temporary table.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE TEMP TABLE t AS SELECT * FROM memory_units;
SELECT * FROM t;

-- security_definer_function --
-- Security definer function.
CREATE FUNCTION public.f() RETURNS SETOF memory_units LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM hindsight.memory_units';
SELECT * FROM public.f();

-- temporary_function --
-- Temporary function.
CREATE FUNCTION pg_temp.f() RETURNS SETOF hindsight.memory_units LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM hindsight.memory_units';
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM pg_temp.f();

-- leaky_function --
-- Leaky function.
SELECT set_config('app.tenant_id', '{attacker}', false);
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
SELECT 1 FROM memory_units WHERE pg_temp.leak(text);

-- leaky_cast --
-- Leaky cast.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT 1 FROM memory_units WHERE text::integer = 1 AND tenant_id = '{victim}';

-- leaky_division --
-- Leaky division.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT '{mark}' FROM memory_units WHERE 1 / (CASE WHEN text LIKE '{mark}%' THEN 0 ELSE 1 END) = 0;

-- trigger --
-- Trigger.
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; RETURN true; END $$;
CREATE TRIGGER t BEFORE INSERT ON memory_units FOR EACH ROW EXECUTE FUNCTION pg_temp.leak();

-- rule --
-- Rule.
CREATE RULE r AS ON SELECT TO memory_units DO INSTEAD SELECT * FROM memory_units;
SELECT * FROM memory_units;

-- prepared_statement --
-- Prepared statement.
PREPARE p AS SELECT * FROM memory_units;
SELECT set_config('app.tenant_id', '{attacker}', false);
EXECUTE p;
RESET app.tenant_id;
EXECUTE p;

-- cursor_held_over_commit --
-- Cursor held over commit.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM memory_units;
COMMIT;
FETCH ALL FROM c;

-- search_path_of_the_crossing --
-- Search path of the crossing.
CREATE TEMP TABLE api_keys AS SELECT 1 AS x;
SET search_path = pg_temp, hindsight;
SELECT * FROM hindsight.resolve_key('\x00'::bytea);

-- keys_table --
-- Keys table.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM api_keys;
SELECT * FROM resolve_key(decode(repeat('00', 32), 'hex'));

-- due_work --
-- Due work.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT o.* FROM due_work(100, true, true) AS w JOIN operations AS o ON o.operation_id = w.id;

-- pg_stats --
-- Pg stats.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM pg_stats WHERE tablename IN ('memory_units', 'banks', 'unit_terms');

-- pg_stats_ext --
-- Pg stats ext.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM pg_stats_ext;
SELECT * FROM pg_stats_ext_exprs;

-- pg_statistic --
-- Pg statistic.
SELECT * FROM pg_statistic;

-- explain --
-- Explain.
SELECT set_config('app.tenant_id', '{attacker}', false);
EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM memory_units;

-- sequence --
-- Sequence.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT '{mark}' FROM observation_revisions_sequence_seq;

-- other_sessions --
-- Other sessions.
SELECT query FROM pg_stat_activity;

-- file --
-- File.
SELECT pg_read_file('postgresql.conf');
SELECT pg_ls_dir('.');
SELECT lo_import('/etc/passwd');

-- copy_program --
-- Copy program.
COPY (SELECT 1) TO PROGRAM 'true';

-- insert_for_the_victim --
-- Insert for the victim.
SELECT set_config('app.tenant_id', '{attacker}', false);
INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key) VALUES ('{victim}', '{bank_id}', gen_random_uuid(), 'n', 'n');

-- insert_on_conflict --
-- Insert on conflict.
SELECT set_config('app.tenant_id', '{attacker}', false);
INSERT INTO banks (tenant_id, bank_id, external_id) VALUES ('{victim}', '{bank_id}', 'n') ON CONFLICT (tenant_id, bank_id) DO UPDATE SET name = 'taken' RETURNING *;

-- update --
-- Update.
SELECT set_config('app.tenant_id', '{attacker}', false);
UPDATE memory_units SET text = 'gone' WHERE tenant_id = '{victim}' RETURNING *;

-- update_everything --
-- Update everything.
SELECT set_config('app.tenant_id', '{attacker}', false);
UPDATE banks SET name = 'gone' RETURNING *;

-- adopt_rows --
-- Adopt rows.
SELECT set_config('app.tenant_id', '{attacker}', false);
UPDATE memory_units SET tenant_id = '{attacker}' WHERE id = '{fact}' RETURNING *;

-- give_rows_away --
-- Give rows away.
SELECT set_config('app.tenant_id', '{attacker}', false);
UPDATE banks SET tenant_id = '{victim}' RETURNING *;

-- delete --
-- Delete.
SELECT set_config('app.tenant_id', '{attacker}', false);
DELETE FROM banks WHERE tenant_id = '{victim}' RETURNING *;

-- truncate --
-- Truncate.
TRUNCATE memory_units CASCADE;
TRUNCATE banks CASCADE;

-- merge --
-- Merge.
SELECT set_config('app.tenant_id', '{attacker}', false);
MERGE INTO banks AS b USING (VALUES ('{bank_id}'::uuid)) AS v (id) ON b.bank_id = v.id WHEN MATCHED THEN UPDATE SET name = 'gone';

-- drop --
-- Drop.
DROP TABLE memory_units CASCADE;
DROP SCHEMA hindsight CASCADE;

-- make_a_key --
-- Make a key.
SELECT set_config('app.tenant_id', '{attacker}', false);
INSERT INTO api_keys (tenant_id, key_id, key_hash, subject, permissions) VALUES ('{victim}', gen_random_uuid(), '\x00', 's', ARRAY['admin']);

-- rewrite_the_audit_log --
-- Rewrite the audit log.
SELECT set_config('app.tenant_id', '{attacker}', false);
UPDATE audit_log SET subject = 'somebody else';

-- rewrite_the_ledger --
-- Rewrite the ledger.
SELECT set_config('app.tenant_id', '{attacker}', false);
DELETE FROM usage_ledger;
UPDATE usage_ledger SET usd = 0;
