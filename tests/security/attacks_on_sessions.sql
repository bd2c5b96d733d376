-- set_role_none --
-- Back to the role that connected.
SELECT set_config('app.tenant_id', '{attacker}', false);
SET ROLE NONE;
SELECT * FROM memory_units;

-- set_role_superuser --
-- The server's own role.
SET ROLE postgres;
SELECT * FROM memory_units;

-- set_local_role_owner --
-- The owner's role for one transaction.
BEGIN;
SET LOCAL ROLE hindsight_owner;
SELECT * FROM memory_units;
ROLLBACK;

-- role_by_set_config --
-- The owner's role by way of its setting.
SELECT set_config('role', 'hindsight_owner', false);
SELECT * FROM memory_units;

-- session_authorization_owner --
-- The owner's session.
SET SESSION AUTHORIZATION hindsight_owner;
SELECT * FROM memory_units;

-- session_authorization_router --
-- The session of whoever may cross tenants.
SET SESSION AUTHORIZATION hindsight_router;
SELECT * FROM operations;

-- session_authorization_by_set_config --
-- Somebody else's session by way of its setting.
SELECT set_config('session_authorization', 'postgres', false);
SELECT * FROM memory_units;

-- reset_role_and_authorization --
-- Back to where the session began.
RESET ROLE;
RESET SESSION AUTHORIZATION;
SELECT * FROM memory_units;

-- superuser_attribute --
-- To be the superuser.
ALTER ROLE CURRENT_USER SUPERUSER;
SELECT * FROM memory_units;

-- setting_kept_for_the_role --
-- A setting that every later session of the role would start with.
ALTER ROLE CURRENT_USER SET app.tenant_id = '{attacker}';
SELECT * FROM memory_units;
ALTER ROLE CURRENT_USER RESET app.tenant_id;

-- setting_kept_for_the_database --
-- A setting that every later session would start with.
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET app.tenant_id = %L', current_database(), '{victim}'); END $$;
SELECT * FROM memory_units;

-- setting_kept_for_the_server --
-- A setting for everybody.
ALTER SYSTEM SET row_security = off;
SELECT pg_reload_conf();
SELECT * FROM memory_units;

-- new_role --
-- A role of one's own.
CREATE ROLE intruder SUPERUSER;
SET ROLE intruder;
SELECT * FROM memory_units;

-- new_role_that_bypasses --
-- A role that no policy binds.
CREATE ROLE intruder BYPASSRLS IN ROLE hindsight_owner;
SET ROLE intruder;
SELECT * FROM memory_units;

-- grant_of_the_router --
-- To become whoever may cross tenants.
GRANT hindsight_router TO CURRENT_USER WITH SET TRUE;
SET ROLE hindsight_router;
SELECT * FROM operations;

-- grant_of_the_tables --
-- To be given the tables.
GRANT ALL ON ALL TABLES IN SCHEMA hindsight TO CURRENT_USER;
SELECT * FROM memory_units;

-- grant_to_everybody --
-- To give the tables to all.
GRANT SELECT ON memory_units, api_keys TO PUBLIC;
SELECT * FROM api_keys;

-- table_taken_over --
-- To own a table.
ALTER TABLE memory_units OWNER TO CURRENT_USER;
SELECT * FROM memory_units;

-- schema_taken_over --
-- To own the schema.
ALTER SCHEMA hindsight OWNER TO CURRENT_USER;
SELECT * FROM memory_units;

-- objects_reassigned --
-- To be given all that the owner owns.
REASSIGN OWNED BY hindsight_owner TO CURRENT_USER;
SELECT * FROM memory_units;

-- objects_dropped --
-- To take the owner's things away.
DROP OWNED BY hindsight_owner CASCADE;
SELECT * FROM memory_units;

-- row_security_off_in_a_transaction --
-- Row security off for one transaction.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
SET LOCAL row_security = off;
SELECT * FROM memory_units;
ROLLBACK;

-- row_security_off_by_set_config --
-- Row security off by way of its setting.
SELECT set_config('row_security', 'off', false);
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM banks;
SELECT * FROM documents;

-- row_security_off_by_a_function --
-- Row security off while a function runs.
CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE sql SET row_security = off AS 'SELECT text FROM hindsight.memory_units';
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT * FROM pg_temp.f();

-- role_by_a_function --
-- The owner's role while a function runs.
CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE sql SET role = 'hindsight_owner' AS 'SELECT text FROM hindsight.memory_units';
SELECT * FROM pg_temp.f();

-- null_setting --
-- A setting of nothing.
SELECT set_config('app.tenant_id', NULL, false);
SELECT * FROM memory_units;

-- setting_with_a_line_break --
-- The victim with a line behind it.
SELECT set_config('app.tenant_id', E'{victim}\n{attacker}', false);
SELECT * FROM memory_units;

-- setting_cut_short --
-- Half of the victim.
SELECT set_config('app.tenant_id', left('{victim}', 18), false);
SELECT * FROM memory_units;

-- setting_that_is_an_array --
-- Several tenants as an array.
SELECT set_config('app.tenant_id', '{{{attacker},{victim}}}', false);
SELECT * FROM memory_units;

-- setting_that_is_json --
-- Several tenants as JSON.
SELECT set_config('app.tenant_id', '["{victim}"]', false);
SELECT * FROM memory_units;

-- setting_that_is_a_query --
-- A query that finds every tenant.
SELECT set_config('app.tenant_id', '(SELECT tenant_id FROM tenants)', false);
SELECT * FROM memory_units;

-- setting_that_is_very_long --
-- More than any buffer holds.
SELECT set_config('app.tenant_id', repeat('{attacker}', 10000), false);
SELECT * FROM memory_units;

-- setting_that_says_null --
-- The word for nothing.
SELECT set_config('app.tenant_id', 'NULL', false);
SELECT * FROM memory_units;

-- setting_of_all_ones --
-- The last of all ids.
SELECT set_config('app.tenant_id', 'ffffffff-ffff-ffff-ffff-ffffffffffff', false);
SELECT * FROM memory_units;

-- setting_of_a_bank --
-- A bank's id for a tenant's.
SELECT set_config('app.tenant_id', '{bank_id}', false);
SELECT * FROM memory_units;

-- setting_in_another_case --
-- The setting's name in capitals is the same setting.
SELECT set_config('APP.TENANT_ID', '{unknown}', false);
SELECT * FROM memory_units;

-- setting_with_a_longer_name --
-- A setting beneath the setting.
SET app.tenant_id.of_the_victim = '{victim}';
SELECT * FROM memory_units;

-- setting_changed_by_the_query --
-- The setting is changed to nothing while rows are read.
SELECT set_config('app.tenant_id', '{attacker}', false);
SELECT text FROM memory_units WHERE set_config('app.tenant_id', '{unknown}', true) IS NOT NULL;

-- setting_undone_by_a_savepoint --
-- The victim's setting within a savepoint that is undone by an error.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
SAVEPOINT s;
SELECT set_config('app.tenant_id', '{victim}', true);
SELECT 1/0;
ROLLBACK TO SAVEPOINT s;
SELECT * FROM memory_units;
COMMIT;

-- setting_after_a_released_savepoint_and_a_rollback --
-- A released savepoint goes with its transaction.
BEGIN;
SAVEPOINT s;
SELECT set_config('app.tenant_id', '{victim}', true);
RELEASE SAVEPOINT s;
ROLLBACK;
SELECT * FROM memory_units;

-- setting_after_commit_and_chain --
-- The next transaction of a chain.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
COMMIT AND CHAIN;
SELECT * FROM memory_units;
COMMIT;

-- setting_after_rollback_and_chain --
-- The next transaction of a chain that was undone.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
ROLLBACK AND CHAIN;
SELECT * FROM memory_units;
COMMIT;

-- session_setting_undone --
-- A setting for the session, made in a transaction that is undone.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', false);
ROLLBACK;
SELECT * FROM memory_units;

-- after_a_statement_timeout --
-- The connection after a statement that took too long.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
SET LOCAL statement_timeout = 1;
SELECT pg_sleep(1);
ROLLBACK;
SELECT * FROM memory_units;

-- after_a_lock_timeout_setting --
-- The connection after a transaction with settings of its own.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
SET LOCAL lock_timeout = 1;
LOCK TABLE memory_units IN ACCESS EXCLUSIVE MODE;
ROLLBACK;
SELECT * FROM memory_units;

-- after_a_cancelled_statement --
-- The connection after a statement that was cancelled.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(1);
ROLLBACK;
SELECT * FROM memory_units;

-- after_a_commit_of_a_failed_transaction --
-- A commit that is a rollback.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
SELECT nothing_of_that_name;
COMMIT;
SELECT * FROM memory_units;

-- after_a_violation --
-- The connection after a row that was refused.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
INSERT INTO banks (tenant_id, bank_id, external_id) VALUES ('{attacker}', gen_random_uuid(), 'x');
ROLLBACK;
SELECT * FROM banks;

-- two_phase_commit --
-- A transaction that would outlive its connection.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
PREPARE TRANSACTION 'left';
SELECT * FROM memory_units;

-- exported_snapshot --
-- Another transaction's snapshot brings no setting along.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT pg_export_snapshot() IS NOT NULL;
SELECT * FROM memory_units;
COMMIT;

-- prepared_under_the_victim --
-- A statement that was prepared while the victim was set.
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
PREPARE p AS SELECT * FROM memory_units;
COMMIT;
EXECUTE p;
SELECT set_config('app.tenant_id', '{attacker}', false);
EXECUTE p;

-- planned_under_the_victim --
-- A plan that was kept while the victim was set.
SET plan_cache_mode = force_generic_plan;
BEGIN;
SELECT set_config('app.tenant_id', '{victim}', true);
PREPARE p AS SELECT * FROM memory_units;
EXPLAIN EXECUTE p;
COMMIT;
SELECT set_config('app.tenant_id', '{attacker}', false);
EXECUTE p;

-- planned_for_its_own_values --
-- A plan made anew for the value it is given.
SET plan_cache_mode = force_custom_plan;
SELECT set_config('app.tenant_id', '{attacker}', false);
PREPARE p (uuid) AS SELECT * FROM memory_units WHERE tenant_id = $1;
EXECUTE p ('{victim}');

-- prepared_as_another_role --
-- A statement that was prepared before a change of role that fails.
PREPARE p AS SELECT * FROM banks;
SET ROLE hindsight_owner;
EXECUTE p;

-- cursor_that_scrolls_back --
-- A cursor that is read from both ends.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
DECLARE c SCROLL CURSOR FOR SELECT * FROM memory_units;
FETCH LAST FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;

-- cursor_opened_before_the_setting --
-- A cursor that was opened for one tenant and read for another.
BEGIN;
SELECT set_config('app.tenant_id', '{attacker}', true);
DECLARE c CURSOR FOR SELECT * FROM memory_units;
SELECT set_config('app.tenant_id', '{unknown}', true);
FETCH ALL FROM c;
COMMIT;

-- cursors_of_the_session --
-- What other statements of the session are called.
SELECT * FROM pg_cursors;
SELECT * FROM pg_prepared_statements;

-- parallel_workers --
-- Workers that read for the session.
SELECT set_config('app.tenant_id', '{attacker}', false);
SET debug_parallel_query = on;
SET parallel_setup_cost = 0;
SELECT text FROM memory_units;
SELECT name FROM banks;

-- without_any_setting_in_parallel --
-- Workers of a session that serves nobody.
SET debug_parallel_query = on;
SELECT text FROM memory_units;

-- notifications --
-- What one session says to all.
LISTEN hindsight;
NOTIFY hindsight, '{attacker}';
SELECT pg_notify('hindsight', text) FROM memory_units;
SELECT * FROM pg_listening_channels();

-- advisory_locks --
-- Locks by number, and who holds them.
SELECT pg_try_advisory_lock(1), pg_try_advisory_xact_lock_shared(1);
SELECT * FROM pg_locks;
SELECT pg_advisory_unlock_all();
