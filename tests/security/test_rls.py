"""The database itself keeps tenants apart: attacks with an app role's connection, which must bring nothing."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.queries import parse
from tests.support.admin import admin
from tests.support.database import Database, make_tenant
from tests.support.seed import Seeded, fingerprint, seed_bank

MARK = "Xanthippe"
APP_ROLES = ("hindsight_write", "hindsight_read")


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
    for file in sorted(Path(__file__).parent.glob("attacks*.sql"))
    for name, query in parse(file.stem, file.read_text("utf-8")).items()
}
"""What an attacker may try with an app role's connection, statement by statement; words in braces are filled in."""
_AS_ATTACKER = "SELECT set_config('app.tenant_id', '{attacker}', false)"
ON_EVERY_TABLE = {
    "without_a_tenant": ["SELECT t::text FROM {table} AS t"],
    "without_a_predicate": [_AS_ATTACKER, "SELECT t::text FROM {table} AS t"],
    "by_the_victims_id": [_AS_ATTACKER, "SELECT * FROM {table} WHERE tenant_id = '{victim}'"],
    "with_row_security_off": [_AS_ATTACKER, "SET row_security = off", "SELECT * FROM {table}"],
    "as_its_owner": ["SET ROLE hindsight_owner", "SELECT * FROM {table}"],
    "as_xml": [_AS_ATTACKER, "SELECT table_to_xml('{table}', true, false, '')"],
    "by_an_update": [
        _AS_ATTACKER,
        "UPDATE {table} SET tenant_id = '{attacker}' WHERE tenant_id = '{victim}' RETURNING *",
    ],
    "by_a_delete": [_AS_ATTACKER, "DELETE FROM {table} WHERE tenant_id = '{victim}' RETURNING *"],
    "by_a_copy_of_rows": [_AS_ATTACKER, "INSERT INTO {table} SELECT * FROM {table} WHERE tenant_id = '{victim}'"],
    "by_giving_rows_away": [
        _AS_ATTACKER,
        "BEGIN",
        "UPDATE {table} SET tenant_id = '{victim}' RETURNING *",
        "ROLLBACK",
    ],
    "by_emptying": ["TRUNCATE {table} CASCADE"],
    "by_its_policy": ["ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY", "SELECT * FROM {table}"],
}
"""The same, put to each table that bears a tenant."""


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
@pytest.mark.parametrize("attempt", ON_EVERY_TABLE)
def test_no_table_gives_or_takes_a_row_of_another_tenant(scene: Scene, role: str, attempt: str) -> None:
    """Whatever tables there are: a new one is attacked from the day that it is there."""
    words = {"attacker": scene.attacker, "victim": scene.victim.tenant}

    loot: dict[str, str] = {}
    with psycopg.connect(scene.database.url(role), autocommit=True) as connection:
        for table in _tables(scene.database):
            statements = [text.format(table=table, **words) for text in ON_EVERY_TABLE[attempt]]
            loot[table] = _run(connection, statements)

    assert [table for table, got in loot.items() if MARK in got] == []
    assert fingerprint(scene.database, scene.victim.tenant) == scene.before


def test_at_least_three_hundred_attempts_are_made(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    tables = len(_tables(scene.database))

    attempts = len(APP_ROLES) * (len(ATTACKS) + len(ON_EVERY_TABLE) * tables)

    with capsys.disabled():
        sys.stdout.write(f"[{attempts} attempts at {tables} tables of another tenant] ")
    assert len(APP_ROLES) * len(ATTACKS) >= 300


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


def _tables(database: Database) -> list[str]:
    """Every table of the schema that bears a tenant, whoever may touch it."""
    with admin(database.admin_url) as connection:
        found = connection.execute("""
        SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relname
        """).fetchall()
    return [str(name) for (name,) in found]


def _attack(url: str, statements: list[str]) -> str:
    """Runs the statements as one attacker would, on a connection of their own; all that came back, as text."""
    with psycopg.connect(url, autocommit=True) as connection:
        return _run(connection, statements)


def _run(connection: psycopg.Connection[tuple[object, ...]], statements: list[str]) -> str:
    loot: list[str] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        loot.append(f"{notice.message_primary}")

    connection.add_notice_handler(note)
    for statement in statements:
        try:
            cursor = connection.execute(statement.encode())
        except psycopg.Error as refused:
            loot.append(f"{refused.diag.message_detail}" if "exists" in str(refused) else _told(refused, statement))
        else:
            loot.append(_values(cursor))
    connection.remove_notice_handler(note)
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
