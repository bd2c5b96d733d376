-- role --
-- What the connected role may do that a function's role must not.
SELECT r.rolname AS name, r.rolsuper AS is_superuser, r.rolbypassrls AS bypasses_policies, EXISTS (
    SELECT FROM pg_class AS c
    WHERE c.relnamespace = to_regnamespace('hindsight') AND c.relkind IN ('r', 'p') AND pg_has_role(r.rolname, c.relowner, 'MEMBER')
) AS owns_tables
FROM pg_roles AS r WHERE r.rolname = current_user

-- function_roles --
-- What the roles that functions sign in as may do beyond what they should.
SELECT r.rolname AS name, r.rolsuper AS is_superuser, r.rolbypassrls AS bypasses_policies, EXISTS (
    SELECT FROM pg_class AS c
    WHERE c.relnamespace = to_regnamespace('hindsight') AND c.relkind IN ('r', 'p') AND pg_has_role(r.rolname, c.relowner, 'MEMBER')
) AS owns_tables
FROM pg_roles AS r WHERE r.rolname IN ('hindsight_write', 'hindsight_read') ORDER BY r.rolname

-- tables_that_readers_write --
-- Tables that the role of recall may change; it inserts into the ledger and does nothing else.
SELECT c.relname AS name
FROM pg_class AS c, pg_roles AS r
WHERE c.relnamespace = to_regnamespace('hindsight') AND c.relkind IN ('r', 'p') AND r.rolname = 'hindsight_read'
  AND (has_table_privilege(r.oid, c.oid, 'UPDATE, DELETE, TRUNCATE') OR (c.relname <> 'usage_ledger' AND has_table_privilege(r.oid, c.oid, 'INSERT')))
ORDER BY c.relname

-- now --
-- The database's clock.
SELECT clock_timestamp() AS now

-- unforced --
-- Tables of the schema without forced row-level security that a role of the functions may touch.
SELECT c.relname AS name
FROM pg_class AS c
WHERE c.relnamespace = to_regnamespace('hindsight') AND c.relkind IN ('r', 'p')
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
  AND EXISTS (
      SELECT FROM pg_roles AS r
      WHERE r.rolname IN ('hindsight_write', 'hindsight_read') AND has_table_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE')
  )
ORDER BY c.relname

-- vector_version --
-- The version of pgvector in this database, or nothing.
SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'

-- vector_offered --
-- The version of pgvector that the server brings, or nothing.
SELECT default_version AS version FROM pg_available_extensions WHERE name = 'vector'

-- tables --
-- How many tables the schema has.
SELECT count(*) AS tables FROM pg_class WHERE relnamespace = to_regnamespace('hindsight') AND relkind = 'r'

-- tenants --
-- Every tenant, for the owner's role alone.
SELECT tenant_id, name, created_at, suspended_at FROM tenants ORDER BY created_at, tenant_id
