"""A server of our own that runs beside the stack as a process (the Bedrock endpoint). Called by the supervisor."""

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from infra.local.processes import Child, spawn

_PATIENCE: Final = 60.0
_POLL: Final = 0.03
_RESTART_PAUSE: Final = 0.2

_log = logging.getLogger(__name__)


class SidecarError(RuntimeError):
    """The process ended, or did not answer, before it was ready."""


class Sidecar:
    """Keeps one process up on one port; ready when it answers GET `ready_path`. `on_launch` hears each pid."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        ready_path: str,
        directory: Path,
        log: Path,
        on_launch: Callable[[int], None],
    ) -> None:
        self.name: Final = name
        self.port: Final = free_port()
        self._command = [*command, "--port", str(self.port)]
        self._ready_path = ready_path
        self._directory = directory
        self._log_file = log
        self._on_launch = on_launch
        self._environment: Mapping[str, str] = {}
        self._child: Child | None = None
        self._is_wanted = True
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it listens, the same after a restart."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process, or None before the start."""
        return self._child.pid if self._child is not None else None

    def launch(self, environment: Mapping[str, str]) -> None:
        """Starts the process without waiting for it."""
        self._environment = environment
        self._child = spawn(self._command, environment=environment, directory=self._directory, output=self._log_file)
        self._child.exited.add_done_callback(self._ended)
        self._on_launch(self._child.pid)

    async def wait_ready(self) -> None:
        """Waits for its first answer. Raises: SidecarError."""
        deadline = time.monotonic() + _PATIENCE
        while not await self._answers():
            if self._child is None or not self._child.is_alive or time.monotonic() > deadline:
                raise SidecarError(f"{self.name} did not start; see {self._log_file}")
            await asyncio.sleep(_POLL)

    async def kill_and_wait(self) -> None:
        """kill -9; returns when it has been started again and answers."""
        if self._child is not None:
            self._child.send(signal.SIGKILL)
            await self._child.exited
            await asyncio.sleep(2 * _RESTART_PAUSE)
        await self.wait_ready()

    async def stop(self) -> None:
        """Ends it for good."""
        self._is_wanted = False
        for task in self._tasks:
            task.cancel()
        if self._child is not None:
            await self._child.stop(signal.SIGTERM, patience=2.0)

    async def _answers(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            writer.write(f"GET {self._ready_path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
            return b" 200 " in await reader.readline()
        except OSError:
            return False
        finally:
            writer.close()

    def _ended(self, exited: asyncio.Future[int]) -> None:
        if self._is_wanted:
            _log.warning("%s ended (%s); starting it again", self.name, exited.result())
            task = asyncio.get_running_loop().create_task(self._relaunch())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _relaunch(self) -> None:
        await asyncio.sleep(_RESTART_PAUSE)
        self.launch(self._environment)


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
