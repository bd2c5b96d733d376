"""A mission change on a scope with many facts, while somebody reads all the time: the old set or the new, no other."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose
from tests.support.api import Caller, make_caller, make_services
from tests.support.consolidation import Workshop
from tests.support.database import Database
from tests.support.rebuilding import CANARY, DETAIL, TRENDS, drain_woken, listening, run_sweep, texts

BANK = "/v1/default/banks/bank"
_LOG = logging.getLogger(__name__)
FACTS = {"small": 24, "deep": 200}


class Reader:
    """Reads a scope over and over on a connection of its own, by every way; keeps each different answer it got."""

    def __init__(self, database: Database, tenant: TenantId) -> None:
        self._store = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
        self._caller: Caller = make_caller(make_services(self._store, tenant))
        self.seen: dict[str, set[frozenset[str]]] = {"list": set(), "recall": set(), "scopes": set()}
        self.reads = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        try:
            while not self.stopped.is_set():
                self._read()
                self.reads += 1
        finally:
            self._store.close()

    def _read(self) -> None:
        listed = self._caller("GET", f"{BANK}/memories/list?type=observation&limit=1000").json()
        self.seen["list"].add(frozenset(item["text"] for item in listed["items"]))
        asked = {"query": "leased clusters", "types": ["observation"], "max_tokens": 100_000, "budget": "high"}
        recalled = self._caller("POST", f"{BANK}/memories/recall", asked).json()
        self.seen["recall"].add(frozenset(result["text"] for result in recalled["results"]))
        scopes = self._caller("GET", f"{BANK}/observations/scopes").json()
        self.seen["scopes"].add(frozenset(str(scope["count"]) for scope in scopes["scopes"]))


@contextmanager
def reading(database: Database, tenant: TenantId) -> Iterator[Reader]:
    """Somebody who reads until the block ends; what went wrong for them is raised then."""
    reader = Reader(database, tenant)
    with ThreadPoolExecutor(1) as thread:
        reads = thread.submit(reader.run)
        try:
            yield reader
        finally:
            reader.stopped.set()
            reads.result(60)


@pytest.mark.timeout(300)
def test_readers_see_the_old_set_or_the_new_one(
    workshop: Workshop, database: Database, tenant: TenantId, dose: Dose
) -> None:
    facts = FACTS[dose]
    listening(workshop).configure(observations_mission=DETAIL)
    workshop.remember(*[f"{CANARY} leased {n} clusters in town {n * 7}." for n in range(facts)], tags=["company:acme"])
    workshop.drain("company:acme")
    run_sweep(workshop)
    old = frozenset(texts(workshop, "company:acme"))
    workshop.model.calls.clear()
    workshop.configure(observations_mission=TRENDS)

    with reading(database, tenant) as reader:
        started = time.monotonic()
        run_sweep(workshop)
        drain_woken(workshop)
        took = time.monotonic() - started
        until = reader.reads + 2
        while reader.reads < until and time.monotonic() < started + took + 60:
            time.sleep(0.01)

    new = frozenset(texts(workshop, "company:acme"))
    calls = len(workshop.model.asked("consolidate"))
    _LOG.info("rebuild of %d facts: %d model calls, %.1f s, %d reads meanwhile", facts, calls, took, reader.reads)
    assert (len(old), len(new), old & new) == (facts, facts, frozenset())
    assert reader.seen["list"] == {old, new}
    assert all(seen and (seen <= old or seen <= new) for seen in reader.seen["recall"])
    assert reader.seen["scopes"] == {frozenset({str(facts)})}
    assert calls == -(-facts // 8)
    assert not any("Noted" in "".join(call.blocks) for call in workshop.model.calls)
