"""A storm of wake-ups: shuffled, doubled, lost, their senders and workers killed; each retain is done exactly once.

The small dose is some 200 messages over 3 workers, the deep one 10,000 over 8.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, local
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.retain import RetainItem
from tests.conftest import Dose
from tests.integration.retain.conftest import Workshop, workshop
from tests.support.invariants import broken
from tests.support.models import NotedWakeups, block, fact
from tests.support.sweeping import sweep_once

__all__ = ["workshop"]
pytestmark = pytest.mark.timeout(1_800)

MOST_ROUNDS = 200
DEATHS = 0.03
LOST, DOUBLED = 0.15, 0.6
_here = local()


class Killed(BaseException):
    """The process ends here: nothing that handles errors may see it."""


@dataclass
class Weather:
    """What befalls messages and processes, from one seed."""

    chance: random.Random
    lock: Lock = field(default_factory=Lock)
    seen: Counter[str] = field(default_factory=Counter)

    def happens(self, probability: float, what: str) -> bool:
        with self.lock:
            happens = self.chance.random() < probability
            self.seen[what] += happens
        return happens

    def reached(self, point: str) -> None:
        """In place of the fault points: whoever works in the storm may die at any of them."""
        if getattr(_here, "in_storm", False) and self.happens(DEATHS, point):
            raise Killed(point)


class StormyWakeups(NotedWakeups):
    """A queue that loses, doubles and shuffles what tells workers of operations."""

    def __init__(self, weather: Weather) -> None:
        super().__init__()
        self._weather = weather

    def wake_operations(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        for operation_id in operation_ids:
            copies = 0 if self._weather.happens(LOST, "lost") else 1
            while copies and copies < 6 and self._weather.happens(DOUBLED, "doubled"):
                copies += 1
            with self._weather.lock:
                self.operations += [(tenant_id, operation_id, delay_s)] * copies

    def pick(self) -> tuple[TenantId, OperationId] | None:
        """Any message, whichever came first."""
        with self._weather.lock:
            if not self.operations:
                return None
            tenant_id, operation_id, _ = self.operations.pop(self._weather.chance.randrange(len(self.operations)))
            return tenant_id, operation_id


@dataclass
class Storm:
    """Callers and workers in it, each with a connection of its own."""

    shop: Workshop
    weather: Weather
    queue: StormyWakeups
    asked: dict[int, UUID] = field(default_factory=dict)
    handled: int = 0

    def ask(self, worker: Workshop, numbers: Sequence[int]) -> None:
        """Sends each retain under an id of its own until it is acknowledged, and sometimes once more."""
        for number in numbers:
            mine = self.asked[number]
            item = RetainItem(f"Parcel {number} was sent.\nParcel {number} arrived.", document_id=_document(number))
            if number % 3 == 0:
                item = RetainItem(item.content, document_id=f"log-{number % 7}", update_mode="append")
            is_told = False
            while not is_told or self.weather.happens(0.2, "sent again"):
                is_told = self._alive(worker, partial(worker.submit, item, operation_id=mine)) or is_told

    def work(self, worker: Workshop) -> None:
        """Handles messages until none is left."""
        while (message := self.queue.pick()) is not None:
            with self.weather.lock:
                self.handled += 1
            tenant_id, operation_id = message
            if not self._alive(worker, partial(worker.deliver, tenant_id, operation_id)):
                self._lease_runs_out(operation_id)

    def _alive(self, worker: Workshop, act: Any) -> bool:
        """Whether the process lived to the end of it; one that did not has lost its connection."""
        _here.in_storm = True
        try:
            act()
        except Killed:
            worker.store.close()
            return False
        finally:
            _here.in_storm = False
        return True

    def _lease_runs_out(self, operation_id: OperationId) -> None:
        self.shop.change("UPDATE operations SET lease_until = '-infinity' WHERE operation_id = %s", operation_id)
        self.shop.change("UPDATE documents SET lease_until = '-infinity' WHERE lease_holder = %s", operation_id)

    def pass_time(self) -> None:
        """What lies between two sweeps: leases that nobody holds any more run out, and what was put off is due.

        On a machine that stalls, an attempt may end in a statement that took too long, or a race, and keep its lease.
        """
        self.shop.change(
            "UPDATE operations SET lease_until = '-infinity', due_at = least(due_at, now()) "
            "WHERE status IN ('pending', 'processing')"
        )
        self.shop.change("UPDATE documents SET lease_until = '-infinity' WHERE lease_until >= now()")

    def open_operations(self) -> int:
        found = self.shop.rows("SELECT count(*) AS n FROM operations WHERE status IN ('pending', 'processing')")
        return int(found[0]["n"])


def _document(number: int) -> str | None:
    return None if number % 2 else f"parcel-{number}"


def _told(call: ModelCall) -> Any:
    """Each line as a fact; what arrives was sent."""
    sent, arrived = str(block(call, "chunk")["text"]).splitlines()
    return {"facts": [fact(sent), fact(arrived, caused_by=[0])]}


@pytest.fixture
def storm(workshop: Workshop, seed: int, monkeypatch: pytest.MonkeyPatch) -> Storm:
    weather = Weather(random.Random(seed))
    for module in ("commit", "retain", "run", "settle", "submit"):
        monkeypatch.setattr(sys.modules[f"hindsight_aws.retain.{module}"], "reached", weather.reached)
    workshop.model.script = _told
    workshop.wakeups = queue = StormyWakeups(weather)
    workshop.configure(hindsight_api_retain_max_attempts=1_000, hindsight_api_enable_observations=False)
    return Storm(workshop, weather, queue)


def test_r110_r112_r121_in_a_storm_every_retain_is_done_exactly_once(storm: Storm, dose: Dose) -> None:
    asked, workers = (70, 3) if dose == "small" else (3_500, 8)
    shop = storm.shop
    numbers = list(range(asked))
    storm.asked = {number: UUID(int=storm.weather.chance.getrandbits(128), version=4) for number in numbers}
    hands = [shop.open_twin() for _ in range(workers)]

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(storm.ask, hand, numbers[at::workers]) for at, hand in enumerate(hands)]:
            done.result()
        for _ in range(MOST_ROUNDS):
            for done in [pool.submit(storm.work, hand) for hand in hands]:
                done.result()
            if not storm.open_operations():
                break
            storm.pass_time()
            sweep_once(shop.store, shop.wakeups, shop.settings)

    _assert_once(storm, asked)
    sys.stdout.write(f"{storm.handled} messages over {workers} workers; {dict(storm.weather.seen)}\n")
    assert storm.handled >= (100 if dose == "small" else 10_000)


def _assert_once(storm: Storm, asked: int) -> None:
    shop = storm.shop
    kinds = Counter((row["kind"], row["status"]) for row in shop.rows("SELECT kind, status FROM operations"))
    assert kinds == {("batch_retain", "completed"): asked, ("retain", "completed"): asked}
    expected = [f"Parcel {number} {what}" for number in range(asked) for what in ("was sent.", "arrived.")]
    assert Counter(shop.texts()) == Counter(expected)
    causal = shop.rows(
        "SELECT f.text AS effect, t.text AS cause FROM memory_links l "
        "JOIN memory_units f ON f.id = l.from_unit JOIN memory_units t ON t.id = l.to_unit "
        "WHERE link_type = 'caused_by'"
    )
    assert Counter((row["effect"], row["cause"]) for row in causal) == Counter(
        (f"Parcel {number} arrived.", f"Parcel {number} was sent.") for number in range(asked)
    )
    assert len(shop.model.calls) == asked
    paid = shop.rows("SELECT operation_id, count(*) AS n FROM usage_ledger WHERE prompt IS NOT NULL GROUP BY 1")
    assert Counter(row["n"] for row in paid) == {1: asked}
    used = shop.rows("SELECT kind, result #>> '{usage,total_tokens}' AS tokens FROM operations")
    assert Counter((row["kind"], row["tokens"]) for row in used) == {
        ("batch_retain", "120"): asked, ("retain", "120"): asked,
    }  # fmt: skip
    told = shop.rows("SELECT event, status, operation_id, count(*) AS n FROM webhook_events GROUP BY 1, 2, 3")
    assert Counter((row["event"], row["status"], row["n"]) for row in told) == {
        ("retain.completed", "completed", 1): asked
    }
    banks = [row["bank_id"] for row in shop.rows("SELECT bank_id FROM banks")]
    with psycopg.connect(shop.database.admin_url, row_factory=dict_row) as rows:
        rows.execute("SET search_path = hindsight, public")
        assert broken(rows, banks) == []
