"""A database as release 0.1.0 left it: its migrations, and rows that its own functions wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from yoyo.migrations import MigrationList, read_migrations

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store import migrator
from infra.local.postgres import create_database, drop_database
from tests.support.database import Database

PREVIOUS = Path(__file__).parents[2] / "fixtures" / "v0.1.0"
TENANT = TenantId(UUID("5a1f0000-0000-4000-8000-00000000de50"))
_ITS_MIGRATIONS = "20261129"


def rows_of_the_release() -> Iterator[tuple[str, str, str]]:
    """Each table, its columns, and its rows in the form that COPY reads."""
    for part in re.split(r"(?m)^(?=-- \w+ \()", (PREVIOUS / "rows.copy").read_text(encoding="utf-8")):
        if found := re.match(r"-- (\w+) \((.*)\)\n", part):
            yield found[1], found[2], part[found.end() :]


def _of_the_release(folder: str) -> MigrationList:
    return read_migrations(folder).filter(lambda migration: migration.id.startswith(_ITS_MIGRATIONS))


@pytest.fixture(scope="module")
def previous(postgres_socket: str) -> Iterator[Database]:
    """The database before the upgrade."""
    database = Database(postgres_socket, "release_0_1_0")
    create_database(database.server_url, database.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrator, "read_migrations", _of_the_release)
        migrator.migrate(database.admin_url)
    with psycopg.connect(database.admin_url, options="-c search_path=hindsight,public") as connection:
        connection.execute("SET session_replication_role = replica")  # tables come by name, not by who refers to whom
        for table, columns, rows in rows_of_the_release():
            with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
                copy.write(rows)
    yield database
    drop_database(database.server_url, database.name)


@pytest.fixture(scope="module")
def upgraded(previous: Database) -> Database:
    """The same database at the head of the migrations."""
    migrator.migrate(previous.admin_url)
    return previous
