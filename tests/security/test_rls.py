"""The database itself keeps tenants apart: what its catalogue must say, and attacks that must bring nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.queries import parse
from tests.support.database import Database, make_tenant
from tests.support.seed import Seeded, fingerprint, seed_bank

MARK = "Xanthippe"
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
    "webhook_deliveries_due": "due_work, likewise",
    "memory_units_world_vector": "a vector index holds one column; the policy and the predicate filter what it finds",
    "memory_units_experience_vector": "likewise",
    "memory_units_observation_vector": "likewise",
}
ROUTED = {"resolve_key", "due_work"}


@dataclass(frozen=True, slots=True)
class Scene:
    """Two tenants in one database, and what the victim's rows looked like before."""

    database: Database
    victim: Seeded
    attacker: TenantId
    before: dict[str, tuple[int, str | None]]


@pytest.fixture(scope="module")
def scene(module_database: Database) -> Scene:
    victim = seed_bank(module_database, make_tenant(module_database, f"tenant of {MARK}"), f"bank-{MARK}", MARK)
    attacker = make_tenant(module_database, "attacker")
    seed_bank(module_database, attacker, "own", "Yorick")
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        admin.execute("ANALYZE")
    return Scene(module_database, victim, attacker, fingerprint(module_database, victim.tenant))


ATTACKS = {
    name: query.text.decode().split(";\n")
    for name, query in parse("attacks", (Path(__file__).parent / "attacks.sql").read_text("utf-8")).items()
}
"""What an attacker may try with an app role's connection, statement by statement; words in braces are filled in."""


@pytest.mark.parametrize("role", APP_ROLES)
def test_the_victim_itself_sees_its_rows(scene: Scene, role: str) -> None:
    own = [f"SELECT set_config('app.tenant_id', '{scene.victim.tenant}', false)", "SELECT * FROM memory_units"]

    loot = _attack(scene.database.url(role), own)

    assert MARK in loot


@pytest.mark.parametrize("role", APP_ROLES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_sees_and_changes_nothing_of_another_tenant(scene: Scene, role: str, attack: str) -> None:
    words = {
        "attacker": scene.attacker,
        "victim": scene.victim.tenant,
        "unknown": uuid4(),
        "fact": scene.victim.fact,
        "bank_id": scene.victim.bank_id,
        "mark": MARK,
    }

    loot = _attack(scene.database.url(role), [statement.format(**words) for statement in ATTACKS[attack]])

    assert MARK not in loot
    assert fingerprint(scene.database, scene.victim.tenant) == scene.before


@pytest.mark.parametrize("role", APP_ROLES)
@pytest.mark.parametrize("statement", ["COPY memory_units TO STDOUT", "COPY (SELECT * FROM memory_units) TO STDOUT"])
def test_a_copy_out_holds_nothing_of_another_tenant(scene: Scene, role: str, statement: str) -> None:
    with psycopg.connect(scene.database.url(role), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.tenant_id', %s, false)", (str(scene.attacker),))
        with cursor.copy(statement.encode()) as copy:
            copied = b"".join(bytes(part) for part in copy)

    assert MARK.encode() not in copied


def test_a_foreign_key_cannot_tell_another_tenants_bank_from_none(scene: Scene) -> None:
    insert = (
        "INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key) "
        "VALUES (%s, %s, gen_random_uuid(), 'n', 'n')"
    )
    answers = []
    with psycopg.connect(scene.database.write_url, autocommit=True) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, false)", (str(scene.attacker),))
        for bank_id in (scene.victim.bank_id, uuid4()):
            with pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
                connection.execute(insert, (scene.attacker, bank_id))
            answers.append(str(refused.value).replace(str(bank_id), "<bank>"))

    assert answers[0] == answers[1]


def test_a_bank_may_be_called_as_another_tenants_bank_is(scene: Scene) -> None:
    with psycopg.connect(scene.database.write_url) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(scene.attacker),))
        made = connection.execute(
            "INSERT INTO banks (tenant_id, bank_id, external_id) VALUES (%s, gen_random_uuid(), %s)",
            (scene.attacker, scene.victim.bank),
        )
        rows = made.rowcount
        connection.rollback()

    assert rows == 1


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


def _attack(url: str, statements: list[str]) -> str:
    """Runs the statements as one attacker would, on one connection; all that came back, as text."""
    loot: list[str] = []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: loot.append(f"{notice.message_primary}"))
        for statement in statements:
            try:
                cursor = connection.execute(statement.encode())
            except psycopg.Error as refused:
                loot.append(f"{refused.diag.message_detail}" if "exists" in str(refused) else _told(refused, statement))
            else:
                loot.append(_values(cursor))
    return "\n".join(loot)


def _values(cursor: psycopg.Cursor[tuple[object, ...]]) -> str:
    """Every value of the answer as the server wrote it."""
    result = cursor.pgresult
    if result is None:
        return ""
    cells = [result.get_value(row, column) for row in range(result.ntuples) for column in range(result.nfields)]
    return " ".join(cell.decode(errors="replace") for cell in cells if cell is not None)


def _told(refused: psycopg.Error, statement: str) -> str:
    """What an error says beyond the statement itself, which holds what the attacker knew."""
    primary = refused.diag.message_primary or ""
    return "" if primary in statement else primary


def _catalogue(database: Database, query: str) -> list[tuple[str, ...]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute(query.encode(), {"roles": list(APP_ROLES)}).fetchall()
