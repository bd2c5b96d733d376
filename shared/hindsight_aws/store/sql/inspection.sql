-- role --
-- What the connected role may do that a function's role must not.
SELECT r.rolname AS name, r.rolsuper AS is_superuser, r.rolbypassrls AS bypasses_policies, EXISTS (
    SELECT FROM pg_class AS c
    WHERE c.relnamespace = to_regnamespace('hindsight') AND c.relkind IN ('r', 'p') AND pg_has_role(r.rolname, c.relowner, 'MEMBER')
) AS owns_tables
FROM pg_roles AS r WHERE r.rolname = current_user

-- unforced --
-- Tables of the schema without forced row-level security that the connected role may touch.
SELECT c.relname AS name
FROM pg_class AS c
WHERE c.relnamespace = to_regnamespace('hindsight') AND c.relkind IN ('r', 'p')
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
  AND has_table_privilege(current_user, c.oid, 'SELECT, INSERT, UPDATE, DELETE')
ORDER BY c.relname

-- vector_version --
-- The version of pgvector in this database, or nothing.
SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'

-- tables --
-- How many tables the schema has.
SELECT count(*) AS tables FROM pg_class WHERE relnamespace = to_regnamespace('hindsight') AND relkind = 'r'

-- tenants --
-- Every tenant, for the owner's role alone.
SELECT tenant_id, name, created_at FROM tenants ORDER BY created_at, tenant_id
