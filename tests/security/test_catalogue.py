"""What the database's catalogue must say for tenants to be kept apart: policies, keys, roles, functions, grants."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

import hindsight_aws.store.queries
from hindsight_aws.store.queries import fragments, parse
from tests.support.database import Database

APP_ROLES = ("hindsight_write", "hindsight_read")
INDEXES_WITHOUT_TENANT = {
    "api_keys_hash": "a key's tenant is what its hash is looked up for, by the router alone",
    "operations_due": "due_work asks for every tenant's work, by the router alone",
    "operations_ended": "due_work, likewise",
    "consolidation_work_due": "due_work, likewise",
    "link_maintenance_due": "due_work, likewise",
    "consolidation_work_revivable": "due_work, likewise",
    "reflect_runs_deadline": "due_work, likewise",
    "reflect_runs_kept": "due_work, likewise",
    "scopes_unmeasured": "due_work, likewise",
    "sealed_generations_due": "due_work, likewise",
    "mental_models_scheduled": "due_work, likewise",
    "scopes_unread": "due_work, likewise",
    "audit_log_started": "due_work, likewise",
    "kept_files_unheld": "due_work, likewise",
    "webhook_deliveries_due": "due_work, likewise",
    "erasures_due": "due_work, likewise",
    "memory_units_world_vector": "a vector index holds one column; the policy and the predicate filter what it finds",
    "memory_units_experience_vector": "likewise",
    "memory_units_observation_vector": "likewise",
    "reembedded_vectors_nearest": "likewise",
}
ROUTED = {"resolve_key", "due_work"}
SQL = Path(hindsight_aws.store.queries.__file__).parent / "sql"


def test_every_table_an_app_role_may_touch_forces_its_policies(database: Database) -> None:
    loose = _catalogue(
        database,
        """
        SELECT c.relname FROM pg_class AS c CROSS JOIN unnest(%(roles)s::text[]) AS r (role)
        WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind IN ('r', 'p')
          AND has_any_column_privilege(r.role, c.oid, 'SELECT, INSERT, UPDATE')
          AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
        """,
    )

    assert loose == []


def test_every_policy_for_everybody_compares_the_tenant(database: Database) -> None:
    tables = _catalogue(
        database,
        """
        SELECT relname FROM pg_class
        WHERE relnamespace = 'hindsight'::regnamespace AND relkind = 'r' AND relforcerowsecurity
        """,
    )
    policies = _catalogue(
        database,
        """
        SELECT tablename, policyname, roles::text, cmd, qual, with_check FROM pg_policies WHERE schemaname = 'hindsight'
        """,
    )

    isolated = {row[0] for row in policies if row[1] == "tenant_isolation"}
    for _, name, roles, command, qual, check in policies:
        if name == "tenant_isolation":
            assert (roles, command) == ("{public}", "ALL")
            assert "app.tenant_id" in qual
            assert check == qual
        else:
            assert command == "SELECT"
            assert roles in ("{hindsight_router}", "{hindsight_owner}")
    assert isolated == {row[0] for row in tables}
    assert len(tables) > 20


def test_the_tenant_leads_every_key_and_index(database: Database) -> None:
    indexes = _catalogue(
        database,
        """
        SELECT i.relname, coalesce(a.attname, ''), x.indisprimary
        FROM pg_index AS x
        JOIN pg_class AS i ON i.oid = x.indexrelid
        JOIN pg_class AS c ON c.oid = x.indrelid
        LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
        WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relforcerowsecurity
        """,
    )

    without = {name for name, first, _ in indexes if first != "tenant_id"}
    primaries_without = [name for name, first, is_primary in indexes if is_primary and first != "tenant_id"]

    assert primaries_without == []
    assert without == set(INDEXES_WITHOUT_TENANT)


def test_a_unique_index_without_the_tenant_would_tell_one_tenant_of_another(database: Database) -> None:
    """Only keys' hashes are unique among all tenants, and no app role inserts a key."""
    across = _catalogue(
        database,
        """
        SELECT i.relname FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
        JOIN pg_class AS c ON c.oid = x.indrelid
        WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relforcerowsecurity AND x.indisunique AND NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnum = ANY (x.indkey::smallint[]))
        """,
    )
    makers = _catalogue(
        database,
        """
        SELECT role FROM unnest(%(roles)s::text[]) AS r (role)
        WHERE has_any_column_privilege(role, 'hindsight.api_keys', 'INSERT')
        """,
    )

    assert across == [("api_keys_hash",)]
    assert makers == []


def test_only_who_may_write_is_told_what_work_is_due(database: Database) -> None:
    readers = _catalogue(
        database,
        """
        SELECT p.oid::regprocedure::text FROM pg_proc AS p
        WHERE p.pronamespace = 'hindsight'::regnamespace AND p.proname = 'due_work'
          AND has_function_privilege('hindsight_read', p.oid, 'EXECUTE')
        """,
    )

    assert readers == []


def test_no_statement_of_ours_leaves_anything_behind_on_a_connection() -> None:
    """What a session keeps over a commit is another tenant's next: cursors held, tables of its own, settings, locks."""
    left = re.compile(
        rb"WITH\s+HOLD|\bTEMP(ORARY)?\b|\bPREPARE\b|\bLISTEN\b|pg_advisory_lock\b|\bSET\s+SESSION\b", re.IGNORECASE
    )

    keeping = [
        file.name
        for file in SQL.glob("*.sql")
        for query in parse(file.stem, file.read_text("utf-8"), fragments()).values()
        if left.search(query.text)
    ]

    assert keeping == []


def test_app_roles_own_nothing_and_bypass_nothing(database: Database) -> None:
    roles = _catalogue(
        database,
        """
        SELECT r.rolname FROM pg_roles AS r
        WHERE r.rolname IN ('hindsight_write', 'hindsight_read', 'hindsight_router', 'hindsight_owner')
          AND (r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb)
        """,
    )
    owned = _catalogue(
        database,
        """
        SELECT c.relname FROM pg_class AS c CROSS JOIN unnest(%(roles)s::text[]) AS r (role)
        WHERE c.relnamespace = 'hindsight'::regnamespace AND pg_has_role(r.role, c.relowner, 'MEMBER')
        """,
    )
    memberships = _catalogue(
        database,
        """
        SELECT m.roleid::regrole::text FROM pg_auth_members AS m
        WHERE m.member::regrole::text = ANY (%(roles)s::text[]) OR m.roleid::regrole::text = 'hindsight_router'
        """,
    )

    assert (roles, owned, memberships) == ([], [], [])


def test_only_the_two_routed_functions_run_as_somebody_else(database: Database) -> None:
    functions = _catalogue(
        database,
        """
        SELECT p.proname, p.proowner::regrole::text, array_to_string(p.proconfig, ','),
               has_function_privilege('public', p.oid, 'EXECUTE')
        FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        """,
    )

    assert {name for name, _, _, _ in functions} == ROUTED
    for _, owner, settings, is_public in functions:
        assert owner == "hindsight_router"
        assert settings.replace('"', "") == "search_path=hindsight, pg_temp"
        assert not is_public


def test_nothing_but_tables_holds_rows_and_nothing_is_granted_to_everybody(database: Database) -> None:
    others = _catalogue(
        database,
        "SELECT relname FROM pg_class WHERE relnamespace = 'hindsight'::regnamespace AND relkind IN ('v', 'm', 'f')",
    )
    to_all = _catalogue(
        database,
        """
        SELECT c.relname FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS g
        WHERE c.relnamespace = 'hindsight'::regnamespace AND g.grantee = 0
        """,
    )

    assert (others, to_all) == ([], [])


def _catalogue(database: Database, query: str) -> list[tuple[str, ...]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute(query.encode(), {"roles": list(APP_ROLES)}).fetchall()
