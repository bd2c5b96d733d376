"""The four promises by which one schema serves many tenants, each put to every table there is."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import Query
from tests.support.database import Database, make_tenant
from tests.support.seed import Seeded, fingerprint, seed_bank

ROLES = ("hindsight_write", "hindsight_read")
_BANKS = Query("banks", "Every bank there is to be seen.", b"SELECT external_id, %(tenant_id)s::uuid FROM banks")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tenants with a bank each."""

    database: Database
    one: Seeded
    other: Seeded


@pytest.fixture(scope="module")
def pair(module_database: Database) -> Pair:
    one = seed_bank(module_database, make_tenant(module_database, "one"), "bank-of-one", "Xanthippe")
    other = seed_bank(module_database, make_tenant(module_database, "other"), "bank-of-other", "Yorick")
    return Pair(module_database, one, other)


def readable(database: Database, role: str) -> list[str]:
    """The tables of tenants' things that a role may read."""
    with psycopg.connect(database.admin_url) as admin:
        found = admin.execute(
            "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' "
            "AND c.relforcerowsecurity AND has_table_privilege(%s, c.oid, 'SELECT') ORDER BY c.relname",
            (role,),
        ).fetchall()
    return [name for (name,) in found]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("before", ["nothing", "a commit", "a rollback"])
def test_without_a_tenant_there_are_no_rows_and_no_error(pair: Pair, role: str, before: str) -> None:
    """[R130] Also on a connection on which a transaction had set one: the setting is then empty, not absent."""
    tables = readable(pair.database, role)

    with psycopg.connect(pair.database.url(role), autocommit=True) as connection:
        if before != "nothing":
            with connection.transaction(force_rollback=before == "a rollback"):
                connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(pair.one.tenant),))
                seen = connection.execute("SELECT count(*) FROM hindsight.banks").fetchone()
                assert seen == (1,)
        counts = {
            table: connection.execute(f"SELECT count(*) FROM hindsight.{table}".encode()).fetchone() for table in tables
        }

    assert len(tables) > 20
    assert set(counts.values()) == {(0,)}


def test_another_tenants_ids_are_found_by_no_statement(pair: Pair) -> None:
    """[R131] Read, update, delete: no row; a link to another's fact: refused; nothing is changed."""
    before = fingerprint(pair.database, pair.other.tenant)
    ids = {"fact": pair.other.fact, "own": pair.one.fact, "bank": pair.other.bank_id, "mine": pair.one.bank_id}

    with psycopg.connect(pair.database.write_url, autocommit=True) as connection:
        connection.execute("SET search_path = hindsight, public")
        connection.execute("SELECT set_config('app.tenant_id', %s, false)", (str(pair.one.tenant),))
        touched = [
            connection.execute(statement.encode(), ids).rowcount
            for statement in (
                "SELECT * FROM memory_units WHERE id = %(fact)s",
                "UPDATE memory_units SET text = 'taken' WHERE id = %(fact)s",
                "UPDATE memory_units SET bank_id = %(mine)s WHERE id = %(fact)s AND bank_id = %(bank)s",
                "DELETE FROM memory_units WHERE id = %(fact)s",
                "DELETE FROM banks WHERE bank_id = %(bank)s",
            )
        ]
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute(
                "INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type) "
                "SELECT tenant_id, bank_id, id, %(fact)s, 'semantic' FROM memory_units WHERE id = %(own)s",
                ids,
            )

    assert touched == [0, 0, 0, 0, 0]
    assert fingerprint(pair.database, pair.other.tenant) == before


def test_every_table_of_tenants_is_forced_and_led_by_the_tenant(database: Database) -> None:
    """[R132] Row-level security enabled and forced; the tenant never null, and first in the primary key."""
    with psycopg.connect(database.admin_url) as admin:
        tables = admin.execute(
            """
            SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, coalesce(t.attnotnull, false), k.attname
            FROM pg_class AS c
            LEFT JOIN pg_attribute AS t ON t.attrelid = c.oid AND t.attname = 'tenant_id'
            LEFT JOIN pg_index AS p ON p.indrelid = c.oid AND p.indisprimary
            LEFT JOIN pg_attribute AS k ON k.attrelid = c.oid AND k.attnum = p.indkey[0]
            WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind IN ('r', 'p')
              AND EXISTS (SELECT FROM unnest(%(roles)s::text[]) AS r (role)
                          WHERE has_any_column_privilege(r.role, c.oid, 'SELECT, INSERT, UPDATE'))
            """,
            {"roles": list(ROLES)},
        ).fetchall()

    assert len(tables) > 20
    assert [table for table in tables if table[1:] != (True, True, True, "tenant_id")] == []


def test_a_connection_that_serves_another_tenant_keeps_nothing_of_the_first(pair: Pair) -> None:
    """[R133] In between there is no tenant at all."""
    store = PostgresStore(lambda: pair.database.write_url)

    def banks(tenant: TenantId) -> tuple[list[str], int]:
        with store.transaction(tenant) as tx:
            process = tx.session.connection.info.backend_pid
            return [row["external_id"] for row in tx.session.rows(_BANKS)], process

    first, process = banks(pair.one.tenant)
    with store.transaction(pair.one.tenant) as tx:
        connection = tx.session.connection
    between = connection.execute("SELECT current_setting('app.tenant_id', true)").fetchone()
    second, same_process = banks(pair.other.tenant)
    store.close()

    assert (first, second) == (["bank-of-one"], ["bank-of-other"])
    assert between in ((None,), ("",))
    assert process == same_process
