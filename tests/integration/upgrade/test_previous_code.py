"""A deployment that is rolled back leaves the new schema under the previous code: each of its statements still runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import psycopg
import pytest

from hindsight_aws.store.queries import Query, parse
from tests.integration.upgrade.conftest import PREVIOUS, TENANT, rows_of_the_release
from tests.support.database import Database

_STATEMENTS = {
    f"{file.stem}.{name}": query
    for file in sorted((PREVIOUS / "statements").glob("*.sql"))
    for name, query in parse(file.stem, file.read_text(encoding="utf-8")).items()
}
_OF_THE_OWNER = {"inspection", "tenants"}
_NOT_PLANNED = {"transaction.begin", "transaction.commit", "transaction.rollback"}


class _Nulls(Mapping[str, None]):
    """Every parameter there is, and none of them set: planning asks for no more."""

    def __getitem__(self, name: str) -> None:
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("name", sorted(_STATEMENTS.keys() - _NOT_PLANNED))
def test_a_statement_of_the_previous_code_is_planned_on_the_new_schema(name: str, upgraded: Database) -> None:
    query = _STATEMENTS[name]
    url = upgraded.owner_url if name.partition(".")[0] in _OF_THE_OWNER else upgraded.write_url

    with psycopg.connect(url, options="-c search_path=hindsight,public") as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(TENANT),))
        assert _plan(connection, query)


def test_rows_as_the_previous_code_writes_them_pass_every_check_of_the_new_schema(database: Database) -> None:
    """What it does not name must have a default, and no check may refuse what it writes."""
    with psycopg.connect(database.admin_url, options="-c search_path=hindsight,public") as connection:
        connection.execute("SET session_replication_role = replica")  # tables come by name, not by who refers to whom

        for table, columns, rows in rows_of_the_release():
            with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
                copy.write(rows)

        assert connection.execute("SELECT count(*) FROM memory_units").fetchone() == (9,)
        connection.rollback()


def test_a_column_that_the_previous_code_does_not_know_needs_no_value(database: Database) -> None:
    known = {table: set(columns.split(", ")) for table, columns, _ in rows_of_the_release()}

    with psycopg.connect(database.admin_url) as connection:
        added = connection.execute(
            """SELECT table_name, column_name, is_nullable = 'YES' OR column_default IS NOT NULL
                      OR is_generated = 'ALWAYS' OR is_identity = 'YES'
               FROM information_schema.columns WHERE table_schema = 'hindsight'"""
        ).fetchall()

    assert [
        f"{table}.{column}"
        for table, column, may_be_left_out in added
        if str(table) in known and str(column) not in known[str(table)] and not may_be_left_out
    ] == []


def _plan(connection: psycopg.Connection[tuple[object, ...]], query: Query) -> list[tuple[object, ...]]:
    """The plan that the server makes; it raises for what is missing or may not be touched."""
    cursor = psycopg.ClientCursor(connection)
    return cursor.execute(b"EXPLAIN " + query.text, _Nulls()).fetchall()
