"""What tests call to strike at the product; every call returns once it is in force. Talks to the supervisor's loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from infra.local.faults.rules import Action, Hit, Rule
from infra.local.faults.server import FaultServer
from infra.local.faults.wire import WireProxy

Answer = TypeVar("Answer")


class Faults:
    """Faults at named points and on the database's wire. `nth` counts matching hits from 1; `point` may be a glob."""

    def __init__(self, loop: asyncio.AbstractEventLoop, server: FaultServer, wire: WireProxy) -> None:
        self._loop = loop
        self._server = server
        self._wire = wire

    def kill_at(self, point: str, *, nth: int = 1, times: int = 1, function: str | None = None) -> None:
        """The process that reaches the point dies there by SIGKILL."""
        self._add(Rule(point, Action.KILL, nth, times, function))

    def pause_at(
        self, point: str, *, seconds: float = 30.0, nth: int = 1, times: int = 1, function: str | None = None
    ) -> None:
        """The process waits at the point, until `release` or for `seconds`."""
        self._add(Rule(point, Action.PAUSE, nth, times, function, seconds))

    def cut_at(self, point: str, *, nth: int = 1, times: int = 1, function: str | None = None) -> None:
        """The process loses its database connection at the point and goes on."""
        self._add(Rule(point, Action.CUT, nth, times, function))

    def raise_at(self, point: str, *, nth: int = 1, times: int = 1, function: str | None = None) -> None:
        """An `InjectedFault` is raised at the point."""
        self._add(Rule(point, Action.RAISE, nth, times, function))

    def release(self) -> None:
        """Lets every paused process go on."""
        self._do(self._server.release)

    def clear(self) -> None:
        """Forgets rules and hits, lets paused processes go on, and makes the wire whole."""
        self._do(self._server.rules.clear)
        self._do(self._server.release)
        self.release_wire()
        self._do(lambda: setattr(self._wire, "commit_cut", None))

    def hits(self, point: str | None = None) -> list[Hit]:
        """The points reached so far, in order."""
        return self._do(lambda: [hit for hit in self._server.rules.hits if point in {None, hit.point}])

    def wait_for(self, point: str, *, count: int = 1, timeout: float = 60.0) -> None:
        """Waits until a point has been reached. Raises: TimeoutError."""
        self._await(asyncio.wait_for(self._server.wait_for_hits(point, count), timeout))

    def connects(self) -> int:
        """How often a function has connected to the database so far."""
        return self._do(lambda: self._wire.accepted)

    def cut_wire(self) -> int:
        """Cuts every function's database connection now; counts them."""
        return self._do(self._wire.cut)

    def cut_wire_at_commit(self, *, after: bool) -> None:
        """Cuts the next wire that commits: before the server sees it, or `after` it has committed, unheard."""
        self._do(lambda: self._wire.cut_at_commit(after=after))

    def pause_wire(self) -> None:
        """Keeps back every byte to and from the database until `release_wire`."""
        self._do(self._wire.pause)

    def release_wire(self) -> None:
        """Lets the bytes pass again."""
        self._do(self._wire.release)

    def _add(self, rule: Rule) -> None:
        self._do(lambda: self._server.rules.rules.append(rule))

    def _do(self, call: Callable[[], Answer]) -> Answer:
        async def run() -> Answer:
            return call()

        return self._await(run())

    def _await(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
