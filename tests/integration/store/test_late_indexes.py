"""Late indexes: built beside the traffic, by one builder at a time, and again after a kill."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from hindsight_aws.cli import main
from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.store import late_indexes
from hindsight_aws.store.late_indexes import (
    LateIndexFailed,
    LateIndexWrong,
    build_late,
    half_built,
    late_statements,
    unbuilt,
)
from tests.support.database import Database

_NAME = "tenants_by_name"
_STATEMENT = f"-- The test's own.\nCREATE INDEX CONCURRENTLY {_NAME} ON tenants (name);\n"

Late = Callable[[str, str], None]


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Late:
    """Puts a file among the late indexes."""
    folder = tmp_path / "sql" / "late"
    folder.mkdir(parents=True)
    monkeypatch.setattr(late_indexes, "files", lambda _package: tmp_path)

    def write(name: str, statement: str) -> None:
        (folder / f"{name}.sql").write_text(statement, encoding="utf-8")

    return write


def test_a_builder_killed_midway_leaves_half_an_index_which_the_next_one_builds_whole(
    module_database: Database, late: Late, capsys: pytest.CaptureFixture[str]
) -> None:
    late(_NAME, _STATEMENT)
    url = module_database.admin_url
    with psycopg.connect(url) as writer, psycopg.connect(url, autocommit=True) as admin, ThreadPoolExecutor(1) as pool:
        writer.execute("INSERT INTO hindsight.tenants (tenant_id, name) VALUES (gen_random_uuid(), 'writing')")
        building = pool.submit(build_late, url)
        pid = _soon(lambda: _builder(admin))

        second = build_late(url)
        while_building = half_built(url)
        admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
        with pytest.raises(DatabaseUnavailable, match=_NAME):
            building.result(timeout=60)
        writer.rollback()
        left, missing = half_built(url), unbuilt(url)
        again = build_late(url)

    code = main(("migrate", "--late", "--database-url", url))

    assert (second.is_under_way, second.built, while_building) == (True, (), ())
    assert (left, missing) == ((_NAME,), (_NAME,))
    assert again.built == (_NAME,)
    assert (half_built(url), unbuilt(url)) == ((), ())
    assert code == 0
    assert "Late indexes are built: 0 now." in capsys.readouterr().out


def test_an_index_that_the_server_refuses_is_named_and_told_by_doctor(
    module_database: Database, late: Late, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    late("tenants_once", "CREATE UNIQUE INDEX CONCURRENTLY tenants_once ON tenants ((true))")
    url = module_database.admin_url
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO hindsight.tenants (tenant_id, name) SELECT gen_random_uuid(), 'x' FROM generate_series(1, 2)"
        )

        with pytest.raises(LateIndexFailed, match="tenants_once: could not create unique index"):
            build_late(url)
        main(("doctor", "--database-url", url))
        admin.execute("DROP INDEX hindsight.tenants_once")

    assert "WARN   Indexes not built yet: tenants_once. Run `hindsight-aws migrate --late`." in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX tenants_by_name ON tenants (name)",
        "CREATE INDEX CONCURRENTLY another ON tenants (name)",
        "CREATE INDEX CONCURRENTLY tenants_by_name ON tenants (name); DROP TABLE tenants",
        "",
    ],
    ids=["locking", "other-name", "two-statements", "empty"],
)
def test_a_late_file_is_one_index_of_its_name(late: Late, statement: str) -> None:
    late(_NAME, statement)

    with pytest.raises(LateIndexWrong, match=f"sql/late/{_NAME}"):
        late_statements()


def test_the_products_own_late_files_can_be_read() -> None:
    assert all("CONCURRENTLY" in statement for statement in late_statements().values())


def _builder(admin: psycopg.Connection[tuple[object, ...]]) -> int | None:
    """The backend that waits for the writer with its index half-built."""
    row = admin.execute(
        "SELECT a.pid FROM pg_stat_activity a, pg_stat_progress_create_index p "
        "WHERE a.pid = p.pid AND a.wait_event_type = 'Lock' AND a.datname = current_database()"
    ).fetchone()
    return None if row is None else int(str(row[0]))


def _soon(look: Callable[[], int | None]) -> int:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if (found := look()) is not None:
            return found
        time.sleep(0.01)
    raise AssertionError("nobody began to build")
