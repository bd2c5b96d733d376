"""Where processes ask what to do at a named point: one JSON line in, one word out. Runs in the supervisor."""

import asyncio
import json
import logging
from collections.abc import Callable

from infra.local.faults.rules import Action, FaultRules, Rule

_log = logging.getLogger(__name__)


class FaultServer:
    """Applies rules. `cut` drops the database wire of one process, by pid."""

    def __init__(self, rules: FaultRules, cut: Callable[[int], None]) -> None:
        self.rules = rules
        self._cut = cut
        self._server: asyncio.Server | None = None
        self._release = asyncio.Event()
        self._hit = asyncio.Condition()
        self._clients: set[asyncio.StreamWriter] = set()

    async def start(self) -> str:
        """Listens; the answer is `host:port`, the value of HINDSIGHT_FAULTS."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        """Stops answering; whoever waits for an answer goes on."""
        self.release()
        if self._server is not None:
            self._server.close()
        for client in tuple(self._clients):
            client.close()

    def release(self) -> None:
        """Lets every paused process go on; later pauses hold again."""
        self._release.set()
        self._release = asyncio.Event()

    async def wait_for_hits(self, point: str, count: int) -> None:
        """Waits until a point has been reached `count` times."""
        async with self._hit:
            await self._hit.wait_for(lambda: sum(hit.point == point for hit in self.rules.hits) >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        try:
            line = await reader.readline()
            if line:
                writer.write(f"{await self._decide(json.loads(line))}\n".encode())
                await writer.drain()
        except OSError as error:
            _log.debug("a process went away while it asked: %s", error)
        finally:
            self._clients.discard(writer)
            writer.close()

    async def _decide(self, report: dict[str, str | int]) -> Action:
        pid = int(report["pid"])
        rule = self.rules.decide(str(report["point"]), str(report["function"]), pid)
        async with self._hit:
            self._hit.notify_all()
        if rule.action is Action.PAUSE:
            await self._pause(rule)
        elif rule.action is Action.CUT:
            self._cut(pid)
        return rule.action

    async def _pause(self, rule: Rule) -> None:
        release = self._release
        try:
            async with asyncio.timeout(rule.seconds):
                await release.wait()
        except TimeoutError:
            _log.debug("the pause at %s ran out", rule.point)
