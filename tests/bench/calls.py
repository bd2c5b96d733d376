"""HTTP calls to the system under measurement, one by one or several at once, each timed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, Self

import aiohttp

from tests.bench.system import Cpu, System

Job = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Timed:
    """What a series of calls took: seconds of each, of all, and CPU seconds of the system."""

    each: tuple[float, ...]
    wall: float
    cpu: Cpu

    @property
    def p50_ms(self) -> float:
        """Half of the calls were faster."""
        return median(self.each) * 1000

    @property
    def p95_ms(self) -> float:
        """Nineteen in twenty were faster."""
        return (quantiles(self.each, n=20)[-1] if len(self.each) > 1 else self.each[0]) * 1000

    def cpu_ms(self, per: int) -> tuple[float, float]:
        """CPU milliseconds per thing: without the models, and of the models."""
        return self.cpu.rest * 1000 / per, self.cpu.models * 1000 / per


class Client:
    """The API of one system; use as an asynchronous context manager."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        timeout, connector = aiohttp.ClientTimeout(total=600), aiohttp.TCPConnector(limit=0)
        self._session = aiohttp.ClientSession(timeout=timeout, connector=connector)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of an answer. Raises: RuntimeError for a status of 400 or more."""
        return await self._send(method, f"{self.system.base_url}/v1/default/banks{path}", body)

    async def make_bank(self, bank: str, **settings: object) -> None:
        """A bank with these settings of its own."""
        await self.call("PUT", f"/{bank}", {})
        await self.call("PATCH", f"/{bank}/config", {"updates": settings})

    async def retain(self, bank: str, items: Sequence[dict[str, object]]) -> None:
        """Keeps the items before it returns."""
        await self.call("POST", f"/{bank}/memories", {"items": list(items)})

    async def recall(self, bank: str, query: str) -> int:
        """The number of results."""
        answer = await self.call("POST", f"/{bank}/memories/recall", {"query": query})
        return len(answer["results"])

    async def model_latency(self, milliseconds: float) -> None:
        """How long the text model takes from now on; its counts start anew."""
        await self._send("POST", f"{self.system.bedrock_url}/__stub__/config", {"latency_ms": milliseconds})
        await self._send("POST", f"{self.system.bedrock_url}/__stub__/reset", {})

    async def model_calls(self) -> int:
        """Calls of the text model since then."""
        return int((await self._send("GET", f"{self.system.bedrock_url}/__stub__/stats", None))["llm_calls"])

    async def timed(self, jobs: Sequence[Job], at_once: int = 1) -> Timed:
        """Runs the jobs, so many at once, and times them."""
        each: list[float] = []
        waiting = iter(jobs)

        async def work() -> None:
            for job in waiting:
                begun = time.perf_counter()
                await job()
                each.append(time.perf_counter() - begun)

        before, begun = self.system.cpu(), time.perf_counter()
        await asyncio.gather(*(work() for _ in range(at_once)))
        wall = time.perf_counter() - begun
        return Timed(tuple(each), wall, self.system.cpu().since(before))

    async def _send(self, method: str, url: str, body: object) -> Any:
        async with self._session.request(method, url, json=body) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"{method} {url}: {answer.status} {(await answer.text())[:200]}")
            return await answer.json(content_type=None)
