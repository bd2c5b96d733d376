"""One execution environment: a process, its Runtime API and the one event it may be working on. Made by the pool."""

import asyncio
import signal
import time
import uuid
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final

from infra.local.functions.outcome import ErrorKind, Failure, Outcome, Success
from infra.local.functions.runtime_api import Invocation, RuntimeApi
from infra.local.functions.settings import EnvironmentSettings
from infra.local.processes import Child, spawn

_ENTRY: Final = Path(__file__).with_name("entry.py")


class State(StrEnum):
    """Where an environment is in its life."""

    STARTING = "starting"
    IDLE = "idle"
    BUSY = "busy"
    DEAD = "dead"


class Environment:
    """Starts one process and runs one event at a time in it.

    `on_idle` is called whenever it is ready for an event, `on_dead` once when its process has ended.
    """

    def __init__(
        self,
        settings: EnvironmentSettings,
        on_idle: Callable[["Environment"], None],
        on_dead: Callable[["Environment"], None],
    ) -> None:
        self.state = State.STARTING
        self.init_failure: Failure | None = None
        self.idle_since = time.monotonic()
        self._settings = settings
        self._on_idle = on_idle
        self._on_dead = on_dead
        self._api = RuntimeApi(self, settings.name)
        self._child: Child | None = None
        self._next: asyncio.Future[Invocation] | None = None
        self._running: tuple[str, asyncio.Future[Outcome]] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._started_at = time.monotonic()

    @property
    def pid(self) -> int | None:
        """The process, once it has been started."""
        return None if self._child is None else self._child.pid

    async def start(self) -> None:
        """Starts the process; readiness is told through `on_idle`, that it could not be started through `on_dead`."""
        address = await self._api.start()
        settings = self._settings
        runtime = "plain" if settings.plain_runtime else "awslambdaric"
        try:
            child = spawn(
                [*settings.interpreter, str(_ENTRY), runtime, settings.handler, *map(str, settings.search_path)],
                environment=settings.variables | {"AWS_LAMBDA_RUNTIME_API": address},
                directory=settings.task_root,
                output=settings.log,
            )
        except OSError as error:
            self.init_failure = Failure.of(ErrorKind.RUNTIME, "Runtime.InvalidEntrypoint", str(error))
            self._end(None)
            return
        self._child = child
        child.exited.add_done_callback(self._process_ended)
        self._timer = asyncio.get_running_loop().call_later(settings.init_seconds, self._init_ran_out)
        if self.state is State.DEAD:  # stopped while it was being started
            child.send(signal.SIGKILL)

    def invoke(self, payload: bytes) -> asyncio.Future[Outcome]:
        """Hands an idle environment its event; the answer always comes, whatever becomes of the process."""
        assert self.state is State.IDLE and self._next is not None  # noqa: S101, PT018 - the pool picks idle ones only
        loop = asyncio.get_running_loop()
        request_id = str(uuid.uuid4())
        timeout = self._settings.timeout
        outcome: asyncio.Future[Outcome] = loop.create_future()
        self.state = State.BUSY
        self._running = (request_id, outcome)
        self._timer = loop.call_later(timeout, self._event_ran_out, request_id)
        waiter, self._next = self._next, None
        self._thaw()
        waiter.set_result(Invocation(request_id, payload, int((time.time() + timeout) * 1000)))
        return outcome

    def kill(self) -> None:
        """kill -9. An event it was working on fails as a crash."""
        if self._child is not None:
            self._child.send(signal.SIGKILL)
        else:
            self._end(None)

    async def stop(self) -> None:
        """Kills and waits until the process is gone."""
        self.kill()
        if self._child is not None:
            await self._child.exited
        self._api.stop()

    async def next_invocation(self) -> Invocation:
        """The process asks for work: it is idle, and frozen until there is some."""
        self._cancel_timer()
        self._next = asyncio.get_running_loop().create_future()
        waiter = self._next
        self.state = State.IDLE
        self.idle_since = time.monotonic()
        self._on_idle(self)
        if not waiter.done() and self._settings.freeze and self._child is not None:
            self._child.send(signal.SIGSTOP)
        return await waiter

    def complete(self, request_id: str, payload: bytes, *, is_error: bool) -> bool:
        """The handler has answered; the process is free again only when it asks for the next event."""
        if self._running is None or self._running[0] != request_id:
            return False
        if is_error:
            self._settle(Failure(ErrorKind.HANDLER, payload))
        elif len(payload) > self._settings.response_bytes:
            message = (
                f"Response payload size exceeded maximum allowed payload size ({self._settings.response_bytes} bytes)."
            )
            self._settle(Failure.of(ErrorKind.TOO_LARGE_RESPONSE, "Function.ResponseSizeTooLarge", message))
        else:
            self._settle(Success(payload))
        return True

    def fail_init(self, payload: bytes) -> None:
        """The process could not load its handler and is about to exit."""
        self.init_failure = Failure(ErrorKind.RUNTIME, payload)

    def _thaw(self) -> None:
        if self._settings.freeze and self._child is not None:
            self._child.send(signal.SIGCONT)

    def _settle(self, outcome: Outcome) -> None:
        self._cancel_timer()
        if self._running is not None:
            _, future = self._running
            self._running = None
            if not future.done():
                future.set_result(outcome)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _init_ran_out(self) -> None:
        message = f"Init phase timed out after {self._settings.init_seconds:.2f} seconds"
        self.init_failure = Failure.of(ErrorKind.RUNTIME, "Sandbox.Timedout", message)
        self.kill()

    def _event_ran_out(self, request_id: str) -> None:
        message = f"RequestId: {request_id} Error: Task timed out after {self._settings.timeout:.2f} seconds"
        self._settle(Failure.of(ErrorKind.RUNTIME, "Sandbox.Timedout", message))
        self.kill()

    def _process_ended(self, exited: asyncio.Future[int]) -> None:
        code = exited.result()
        self._end(f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}")

    def _end(self, how: str | None) -> None:
        if self.state is State.DEAD:
            return
        was_starting = self.state is State.STARTING
        self.state = State.DEAD
        if was_starting and self.init_failure is None:
            message = f"Error: Runtime exited before it was ready ({how}); see {self._settings.log}"
            self.init_failure = Failure.of(ErrorKind.RUNTIME, "Runtime.ExitError", message)
        request_id = self._running[0] if self._running is not None else ""
        message = f"RequestId: {request_id} Error: Runtime exited with error: {how}"
        self._settle(Failure.of(ErrorKind.RUNTIME, "Runtime.ExitError", message))
        self._cancel_timer()
        if self._next is not None:
            self._next.cancel()
        self._api.stop()
        self._on_dead(self)
