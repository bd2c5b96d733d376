"""Migrations: from nothing to head, again without effect, and again after a kill."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from yoyo.migrations import read_migrations

from functions.migrate import handler as door
from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.store import migrator
from hindsight_aws.store.migrator import MigrationFailed, MigrationRefused, MigrationReport, migrate, pending
from tests.support.database import Database


@pytest.fixture
def empty(postgres_socket: str) -> Iterator[Database]:
    database = Database(postgres_socket, "migrator_subject")
    with psycopg.connect(f"postgresql://postgres@/postgres?host={postgres_socket}", autocommit=True) as admin:
        admin.execute("CREATE DATABASE migrator_subject")
        yield database
        admin.execute("DROP DATABASE migrator_subject WITH (FORCE)")


def test_an_empty_database_reaches_head(empty: Database) -> None:
    report = migrate(empty.admin_url)

    assert len(report.applied) == report.total > 0
    assert pending(empty.admin_url) == ()


def test_a_database_at_head_is_left_alone(module_database: Database) -> None:
    before = _catalog(module_database)

    again = migrate(module_database.admin_url)

    assert again.applied == ()
    assert _catalog(module_database) == before


def test_a_migrator_killed_midway_can_be_run_again(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def kill(point: str) -> None:
        raise Killed(point)

    monkeypatch.setattr(migrator, "reached", kill)
    with pytest.raises(Killed):
        migrate(empty.admin_url)
    monkeypatch.undo()
    with psycopg.connect(empty.owner_url, autocommit=True) as left:
        left.execute("INSERT INTO yoyo_lock (locked, ctime, pid) VALUES (1, now(), 999999)")

    report = migrate(empty.admin_url)

    assert len(report.applied) == report.total - 1
    assert pending(empty.admin_url) == ()


def test_an_extension_that_an_engine_upgrade_left_behind_is_renewed(module_database: Database) -> None:
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        admin.execute("UPDATE pg_extension SET extversion = '0.8.5' WHERE extname = 'vector'")

        migrate(module_database.admin_url)

        rows = admin.execute(
            "SELECT installed_version = default_version FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchall()
    assert rows == [(True,)]


def test_nobody_can_act_as_the_router_after_migrating(module_database: Database) -> None:
    migrate(module_database.admin_url)

    with psycopg.connect(module_database.admin_url) as admin:
        members = admin.execute(
            "SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid "
            "WHERE r.rolname = 'hindsight_router'"
        ).fetchone()
        may_create = admin.execute("SELECT has_schema_privilege('hindsight_router', 'hindsight', 'CREATE')").fetchone()

    assert members == (0,)
    assert may_create == (False,)


def test_migrators_that_start_at_once_take_turns(empty: Database) -> None:
    with ThreadPoolExecutor(3) as pool:
        reports = list(pool.map(migrate, [empty.admin_url] * 3))

    applied = [name for report in reports for name in report.applied]
    assert len(applied) == len(set(applied)) == reports[0].total
    assert pending(empty.admin_url) == ()


def test_a_failed_migration_is_named_with_what_the_server_said_and_leaves_no_trace(
    empty: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"CREATE TABLE half (id integer); SELECT {'no_such_column, ' * 2_000} 1;"
    (tmp_path / "20990101000000_broken.sql").write_text(script, encoding="utf-8")
    monkeypatch.setattr(migrator, "read_migrations", lambda _folder: read_migrations(str(tmp_path)))

    with pytest.raises(MigrationFailed, match='20990101000000_broken: column "no_such_column" does not exist') as told:
        migrate(empty.admin_url)

    assert len(str(told.value)) < 1_000
    assert "half" not in {table for table, *_ in _catalog(empty)}


def test_a_database_that_is_away_is_waited_for_and_then_said_to_be_away(
    postgres_socket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    clock = SimpleNamespace(sleep=waited.append, monotonic=lambda: float(len(waited)))
    monkeypatch.setattr(migrator, "time", clock)

    with pytest.raises(DatabaseUnavailable) as told:
        migrate(f"postgresql://postgres:not-a-secret@/nowhere?host={postgres_socket}", patience_s=3)

    assert waited == [1.0, 1.0, 1.0]
    assert "nowhere" in str(told.value)
    assert "not-a-secret" not in str(told.value)


@pytest.mark.parametrize(
    ("error", "shown"),
    [(MigrationFailed("migration x: it broke"), "it broke"), (MigrationRefused("pgvector 0.8"), "pgvector 0.8")],
    ids=["failed", "refused"],
)
def test_a_deployment_is_told_one_sentence_and_no_trace(
    error: Exception, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_url: str, _patience_s: float) -> MigrationReport:
        raise error

    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", "postgresql:///x")
    monkeypatch.setattr(door, "migrate", refuse)

    with pytest.raises(type(error), match=shown) as told:
        door.handler({"RequestType": "Update", "PhysicalResourceId": "hindsight-schema"}, None)

    assert told.value.__cause__ is None
    assert len(traceback.format_exception(told.value)) <= 4


def _catalog(database: Database) -> list[tuple[object, ...]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute(
            "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) "
            "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND a.attnum > 0 ORDER BY 1, 2"
        ).fetchall()
