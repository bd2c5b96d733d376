"""Keeps the Postgres server running: starts it, and starts it again when it dies. Called by the supervisor."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from infra.local.postgres import LocalPostgres, PostgresError

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


class PostgresKeeper:
    """One server, kept up. Blocking work runs on one thread that lives as long as the server.

    (The kernel ties a child to the thread that started it, so a passing thread would take the server along.)
    """

    def __init__(self, data: Path, log: Path, *, durable: bool) -> None:
        self.server = LocalPostgres(data, durable=durable, log=log)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="postgres")
        self._is_wanted = False
        self._up = asyncio.Event()

    async def start(self) -> None:
        """Starts the server and keeps it up from now on. Raises: PostgresError."""
        self._is_wanted = True
        await self._blocking(self.server.start)
        self._up.set()
        self._watch(asyncio.get_running_loop())

    async def kill(self, *, restart: bool = True) -> None:
        """kill -9; with `restart` it returns once the server is up again, else the server stays down until `start`."""
        self._is_wanted = restart
        self._up.clear()
        await self._blocking(self.server.kill)
        if restart:
            await self._up.wait()

    async def stop(self) -> None:
        """Ends the server for good, with everything written."""
        self._is_wanted = False
        await self._blocking(self.server.stop)
        self._thread.shutdown(wait=False)

    async def _blocking(self, call: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        process = self.server.process
        if process is None:
            return

        def wait() -> None:
            process.wait()
            with suppress(RuntimeError):  # the loop has closed: the stack is gone
                loop.call_soon_threadsafe(self._ended)

        threading.Thread(target=wait, name="postgres-watch", daemon=True).start()

    def _ended(self) -> None:
        if self._is_wanted:
            _log.warning("Postgres ended unexpectedly; starting it again")
            self._up.clear()
            self._revival = asyncio.get_running_loop().create_task(self._revive())

    async def _revive(self) -> None:
        try:
            await self.start()
        except PostgresError as error:
            _log.error("Postgres does not come back: %s", error)
