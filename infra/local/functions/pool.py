"""The execution environments of one function: started on demand, reused newest first, recycled, replaced after a crash.

Called by gateway, pollers and schedules; starts `Environment`s.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from functools import partial

from infra.local.functions.environment import Environment, State
from infra.local.functions.outcome import ErrorKind, Failure, Outcome
from infra.local.functions.settings import EnvironmentSettings

_log = logging.getLogger(__name__)

_Waiter = tuple[bytes, asyncio.Future[Outcome]]


class FunctionPool:
    """Runs events of one function, each in a process that runs nothing else meanwhile."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        self.settings = settings
        self._environments: set[Environment] = set()
        self._idle: list[Environment] = []
        self._waiting: deque[_Waiter] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._was_used = False
        self._warm_waiters: list[asyncio.Future[None]] = []

    @property
    def pids(self) -> list[int]:
        """The processes alive now."""
        return [environment.pid for environment in self._environments if environment.pid is not None]

    async def invoke(self, payload: bytes) -> Outcome:
        """Runs one event. Every way to fail is a `Failure`; cancelling the caller does not stop a started handler."""
        settings = self.settings
        if len(payload) > settings.request_bytes:
            message = f"{len(payload)} byte payload is too large for the RequestResponse invocation type"
            return Failure.of(ErrorKind.TOO_LARGE_REQUEST, "RequestEntityTooLargeException", message)
        self._was_used = True
        while self._idle:
            environment = self._idle.pop()
            if environment.state is State.IDLE:
                return self._logged(await asyncio.shield(environment.invoke(payload)))
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        waiter = (payload, future)
        self._waiting.append(waiter)
        self._grow()
        try:
            async with asyncio.timeout(settings.timeout + settings.init_seconds):
                return self._logged(await asyncio.shield(future))
        except TimeoutError:
            return Failure.of(ErrorKind.THROTTLED, "TooManyRequestsException", "No execution environment came free.")
        finally:
            with suppress(ValueError):
                self._waiting.remove(waiter)

    async def warm(self, count: int = 1) -> None:
        """Starts environments ahead of use and waits until one is ready, or has failed to start."""
        if self._idle:
            return
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._warm_waiters.append(ready)
        for _ in range(min(count, self.settings.concurrency) - len(self._environments)):
            self._launch()
        await ready

    async def kill(self, *, busy_only: bool = False) -> list[int]:
        """kill -9 of the function's processes, or of those at work; waits for their end and returns their pids."""
        doomed = [e for e in self._environments if e.pid is not None and (not busy_only or e.state is State.BUSY)]
        pids = [environment.pid for environment in doomed if environment.pid is not None]
        await asyncio.gather(*(environment.stop() for environment in doomed))
        return pids

    def recycle(self, now: float) -> None:
        """Ends environments that had no event for long; `now` is the monotonic clock."""
        spare = len(self._environments) - self.settings.keep_warm
        for environment in [e for e in self._idle if now - e.idle_since > self.settings.idle_seconds][: max(0, spare)]:
            self._idle.remove(environment)
            environment.kill()

    async def stop(self) -> None:
        """Ends every process; waiting callers are told."""
        self._stopping = True
        self._fail_waiting(Failure.of(ErrorKind.THROTTLED, "ServiceException", "The local stack is stopping."))
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*(environment.stop() for environment in tuple(self._environments)))

    def _grow(self) -> None:
        starting = sum(environment.state is State.STARTING for environment in self._environments)
        if starting < len(self._waiting) and len(self._environments) < self.settings.concurrency:
            self._launch()

    def _launch(self) -> None:
        if self._stopping:
            return
        environment = Environment(self.settings, self._became_idle, self._died)
        self._environments.add(environment)
        task = asyncio.get_running_loop().create_task(environment.start())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _became_idle(self, environment: Environment) -> None:
        self._release_warm_waiters()
        while self._waiting:
            payload, future = self._waiting.popleft()
            if not future.done():
                environment.invoke(payload).add_done_callback(partial(_pass_on, future))
                return
        self._idle.append(environment)

    def _died(self, environment: Environment) -> None:
        self._environments.discard(environment)
        with suppress(ValueError):
            self._idle.remove(environment)
        self._release_warm_waiters()
        if self._stopping:
            return
        if environment.init_failure is not None:
            _log.error("%s could not start: %s", self.settings.name, environment.init_failure.summary)
            self._fail_first_waiting(environment.init_failure)
            if self._waiting:
                self._grow()
        elif self._waiting or (self._was_used and len(self._environments) < self.settings.keep_warm):
            self._launch()

    def _release_warm_waiters(self) -> None:
        for ready in self._warm_waiters:
            if not ready.done():
                ready.set_result(None)
        self._warm_waiters.clear()

    def _fail_first_waiting(self, failure: Failure) -> None:
        while self._waiting:
            _, future = self._waiting.popleft()
            if not future.done():
                future.set_result(failure)
                return

    def _fail_waiting(self, failure: Failure) -> None:
        while self._waiting:
            self._fail_first_waiting(failure)

    def _logged(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure):
            _log.warning("%s failed: %s", self.settings.name, outcome.summary)
        return outcome


def _pass_on(waiting: asyncio.Future[Outcome], done: asyncio.Future[Outcome]) -> None:
    if not waiting.done():
        waiting.set_result(done.result())
