"""Migrations: from nothing to head, again without effect, and again after a kill."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from hindsight_aws.store import migrator
from hindsight_aws.store.migrator import migrate, pending
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


def test_a_database_at_head_is_left_alone(empty: Database) -> None:
    migrate(empty.admin_url)
    before = _catalog(empty)

    again = migrate(empty.admin_url)

    assert again.applied == ()
    assert _catalog(empty) == before


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


def test_nobody_can_act_as_the_router_after_migrating(empty: Database) -> None:
    migrate(empty.admin_url)

    with psycopg.connect(empty.admin_url) as admin:
        members = admin.execute(
            "SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid "
            "WHERE r.rolname = 'hindsight_router'"
        ).fetchone()
        may_create = admin.execute("SELECT has_schema_privilege('hindsight_router', 'hindsight', 'CREATE')").fetchone()

    assert members == (0,)
    assert may_create == (False,)


def _catalog(database: Database) -> list[tuple[object, ...]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute(
            "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) "
            "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND a.attnum > 0 ORDER BY 1, 2"
        ).fetchall()
