"""A throw-away Postgres for one test session: our own launcher over a folder that goes, durability off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from infra.local.postgres import LocalPostgres
from tests.support.state_folder import state_folder

_SETTINGS = {"synchronous_commit": "off", "autovacuum": "off", "shared_buffers": "128MB"}


@contextmanager
def throwaway_server() -> Iterator[str]:
    """Yields the socket folder of a running server whose superuser is `postgres`; everything is gone afterwards."""
    with state_folder() as folder:
        server = LocalPostgres(folder / "postgres", durable=False, settings=_SETTINGS).start()
        try:
            yield str(server.socket_folder)
        finally:
            server.stop()
