"""A rehearsal of docs/howto/restore-drill.md: a backup in a server that knows nothing of us is the same database."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.cli import main
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.migrator import migrate, pending
from hindsight_aws.store.postgres import PostgresStore
from infra.local.postgres import create_database
from infra.local.postgres.places import wheel_binaries
from tests.support.database import Database
from tests.support.invariants import broken
from tests.support.seed import Seeded, fingerprint, seed_bank
from tests.support.server import throwaway_server


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run([wheel_binaries() / program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _faults(database: Database, seeded: Seeded) -> list[str]:
    """What the invariants find: made-up rows break some, and the copy must break the same."""
    options = "-c search_path=hindsight,public"
    with psycopg.connect(database.admin_url, options=options, row_factory=dict_row) as rows:
        return broken(rows, [seeded.bank_id])


def test_a_restored_backup_is_whole_keeps_tenants_apart_and_is_served(
    database: Database, store: PostgresStore, tenant: TenantId, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    seeded = seed_bank(database, tenant, "ledger", "Quill")
    before, faults = fingerprint(database, tenant), _faults(database, seeded)
    backup = str(tmp_path / "backup")
    _run("pg_dump", "--format=custom", "--compress=0", f"--file={backup}", database.admin_url)

    with throwaway_server() as socket:
        restored = Database(socket, "restored")
        create_database(restored.server_url, restored.name)
        with psycopg.connect(restored.server_url, autocommit=True) as server:
            for role in ("hindsight_owner", "hindsight_write", "hindsight_read", "hindsight_router"):
                server.execute(f"CREATE ROLE {role} LOGIN".encode())
        _run("pg_restore", f"--dbname={restored.admin_url}", "--exit-on-error", backup)
        migrate(restored.admin_url)

        assert fingerprint(restored, tenant) == before
        assert pending(restored.admin_url) == ()
        assert _faults(restored, seeded) == faults
        with psycopg.connect(restored.write_url) as stranger:
            assert stranger.execute("SELECT count(*) FROM memory_units").fetchone() == (0,)
        monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
        assert main(("doctor", "--database-url", restored.admin_url)) == 0, capsys.readouterr().out
