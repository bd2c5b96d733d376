"""The Postgres launcher: fresh, killed, left over, cloned, and as whom it may run where."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from infra.local.options import REPOSITORY
from infra.local.postgres import (
    LocalPostgres,
    PostgresError,
    clone_database,
    create_database,
    drop_database,
    places,
)
from tests.integration.infra_local.conftest import copy_data
from tests.integration.infra_local.test_functions import wait_until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to drop to")


@pytest.fixture
def server(folder: Path, pristine_data: Path) -> Iterator[LocalPostgres]:
    copy_data(pristine_data, folder / "data")
    server = LocalPostgres(folder / "data", durable=False).start()
    yield server
    server.stop()


def write(server: LocalPostgres, count: int) -> int:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
        for n in range(count):
            connection.execute("INSERT INTO kept VALUES (%s)", (n,))
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def test_a_commit_survives_a_kill_because_it_is_synchronous(server: LocalPostgres) -> None:
    written = write(server, 50)

    server.kill()
    server.start()

    assert write(server, 0) == written
    with psycopg.connect(server.url()) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_the_address_is_the_same_after_a_restart(server: LocalPostgres) -> None:
    before = server.url()

    server.stop()
    server.start()

    assert server.url() == before


def test_a_server_has_vector(server: LocalPostgres) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE EXTENSION vector")
        row = connection.execute("SELECT '[1,2]'::halfvec(2) <=> '[1,2]'::halfvec(2)").fetchone()

    assert row == (0.0,)


def test_a_database_is_cloned_and_dropped_under_its_users(server: LocalPostgres) -> None:
    assert create_database(server.url(), "template_x")
    assert not create_database(server.url(), "template_x")
    with psycopg.connect(server.url(database="template_x")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 7 AS n")

    clone_database(server.url(), "template_x", "copy")
    user = psycopg.connect(server.url(database="copy"))
    row = user.execute("SELECT n FROM t").fetchone()
    drop_database(server.url(), "copy")
    user.close()

    assert row == (7,)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(server.url(database="copy"))


def test_a_server_that_outlived_its_launcher_is_replaced(folder: Path) -> None:
    first = LocalPostgres(folder / "data", durable=False).start()
    written = write(first, 3)

    second = LocalPostgres(folder / "data", durable=False).start()

    assert first.pid is None
    assert write(second, 0) == written
    second.stop()


@pytest.mark.parametrize("pid", [os.getpid(), 4_000_000], ids=["of another", "of nobody"])
def test_a_stale_pid_file_is_no_obstacle(server: LocalPostgres, pid: int) -> None:
    written = write(server, 1)
    server.kill()
    stale = server.data / "postmaster.pid"
    lines = stale.read_text().splitlines()
    stale.write_text("\n".join([str(pid), *lines[1:], ""]))

    server.start()

    assert write(server, 0) == written


@pytest.mark.skipif(sys.platform != "linux", reason="only this kernel ends children with their parent")
def test_the_server_ends_with_a_launcher_that_is_killed(folder: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from infra.local.postgres import LocalPostgres;"
        "server = LocalPostgres(Path(sys.argv[1]), durable=False).start();"
        "print(server.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )

    command = [sys.executable, "-c", script, str(folder / "data")]
    launched = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    pid = int(launched.stdout)

    wait_until(
        lambda: not Path(f"/proc/{pid}").exists() or b"postgres" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    again = LocalPostgres(folder / "data", durable=False).start()
    assert write(again, 1) == 1
    again.stop()


@as_root
def test_root_runs_the_server_as_nobody_and_changes_no_parent_folder(folder: Path) -> None:
    before = {folder: folder.stat().st_mode for folder in (folder, *folder.parents)}

    server = LocalPostgres(folder / "data", durable=False).start()
    owner = Path(f"/proc/{server.pid}").stat().st_uid
    server.stop()

    assert owner == places.UNPRIVILEGED
    assert {folder: folder.stat().st_mode for folder in before} == before


@as_root
def test_root_keeps_data_elsewhere_when_nobody_may_not_enter_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(places, "_ROOT_DATA", folder / "elsewhere")
    monkeypatch.setattr(places, "_ROOT_BINARIES", folder / "binaries")

    server = LocalPostgres(private / "data", durable=False).start()
    written = write(server, 2)
    server.stop()

    assert written == 2
    assert server.data.is_relative_to(folder / "elsewhere")
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert places.choose_places(private / "data", None).data == server.data


@as_root
def test_root_copies_programs_that_nobody_may_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    (private / "install").symlink_to(places.wheel_binaries().parent, target_is_directory=True)
    monkeypatch.setattr(places, "_ROOT_BINARIES", folder / "binaries")

    chosen = places.choose_places(folder / "data", private / "install" / "bin")

    assert chosen.binaries.is_relative_to(folder / "binaries")
    assert (chosen.binaries / "postgres").exists()


@as_root
def test_no_place_that_works_is_said_in_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(places, "_ROOT_DATA", private / "elsewhere")

    with pytest.raises(PostgresError, match="Run as an ordinary user, choose a state folder"):
        LocalPostgres(private / "data", durable=False)


def test_programs_that_cannot_run_are_said_in_a_sentence(folder: Path) -> None:
    with pytest.raises((PostgresError, OSError), match=r"initdb failed|No such file"):
        LocalPostgres(folder / "data", binaries=folder / "nothing").start()
