"""One packaged system for all tests here: built and unpacked once, every function started once."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.functions import FunctionPool, Outcome
from infra.topology import TOPOLOGY
from layers.mounted import Mounted
from tests.support.packaged import answered, mounted_archives, running_packaged
from tests.support.stack import world_of

if TYPE_CHECKING:
    from infra.local.stack import LocalStack
    from tests.support.world import World

ISSUER = "https://id.example.com/"
_WATCHED = Path(__file__).with_name("watched.py")


class WatchedPackages(Mounted):
    """The archives, run by a Python that can be asked what it has imported."""

    @staticmethod
    def interpreter() -> tuple[str, ...]:
        return *Mounted.interpreter(), str(_WATCHED)


@dataclass
class Shipped:
    """The running packaged system, and every event that its functions were handed."""

    stack: LocalStack
    mounted: Mounted
    events: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def call(self, function: str, event: dict[str, Any]) -> tuple[int, Any]:
        """The status and the body of its answer to an HTTP event."""
        answer = answered(self.stack.invoke(function, json.dumps(event).encode()))
        return answer["statusCode"], json.loads(answer["body"])

    def imported_by(self, function: str) -> dict[str, str | None]:
        """Where each module of the function's process comes from."""
        pid = self.stack.pids()[function][0]
        said = self.mounted.folder / f"{function}.{pid}.json"
        os.kill(pid, signal.SIGCONT)  # it may be frozen
        os.kill(pid, signal.SIGUSR1)
        give_up_at = time.monotonic() + 60
        while not said.exists():
            assert time.monotonic() < give_up_at, f"{function} does not say what it has imported"
            time.sleep(0.01)
        modules: dict[str, str | None] = json.loads(said.read_text(encoding="utf-8"))["modules"]
        return modules


@pytest.fixture(scope="session")
def mounted() -> Iterator[Mounted]:
    with mounted_archives() as archives:
        yield archives


@pytest.fixture(scope="session")
def shipped(mounted: Mounted) -> Iterator[Shipped]:
    watched = WatchedPackages(mounted.folder)
    events: dict[str, list[dict[str, Any]]] = {}
    invoke = FunctionPool.invoke

    async def noting(pool: FunctionPool, payload: bytes) -> Outcome:
        if pool.settings.search_path:
            events.setdefault(pool.settings.name, []).append(json.loads(payload))
        return await invoke(pool, payload)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FunctionPool, "invoke", noting)
        everything = tuple(function.name for function in TOPOLOGY.functions)
        with running_packaged(watched, prewarm=everything, environment={"HINDSIGHT_API_JWT_ISSUER": ISSUER}) as stack:
            yield Shipped(stack, watched, events)


@pytest.fixture
def world(shipped: Shipped) -> Iterator[World]:
    with world_of(shipped.stack) as made:
        yield made
