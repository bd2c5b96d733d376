"""Work is locked by its id, whoever writes it: two who share rows wait for one another in turn, never in a ring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.consolidate.drain import drain
from hindsight_aws.consolidate.undo import revert
from hindsight_aws.model.ids import RunId, UnitId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.ports.store import Transaction
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop, creates
from tests.support.contention import until_blocked
from tests.support.models import block
from tests.support.rebuilding import DETAIL, TRENDS, listening, run_sweep, shadows

ROWS = "SELECT work_id FROM hindsight.consolidation_work"
FACTS = [f"Fact {number}." for number in range(8)]


@pytest.fixture
def other(workshop: Workshop) -> Iterator[PostgresStore]:
    """Connections of somebody else's."""
    opened = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
    yield opened
    opened.close()


class Locker:
    """Somebody who has the last of some rows by id."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def lock(self, where: str = "true") -> None:
        """Locks it."""
        found = self._connection.execute(f"{ROWS} WHERE {where} ORDER BY work_id DESC LIMIT 1 FOR UPDATE".encode())
        assert found.fetchone()

    def let_go(self) -> None:
        """Gives it back as it was."""
        self._connection.rollback()


@pytest.fixture
def locker(workshop: Workshop) -> Iterator[Locker]:
    with psycopg.connect(workshop.database.admin_url) as connection:
        yield Locker(connection)


def _free(workshop: Workshop, where: str = "true") -> list[Any]:
    """The rows that whoever is waiting has not locked."""
    with psycopg.connect(workshop.database.admin_url) as third:
        return third.execute(f"{ROWS} WHERE {where} FOR UPDATE SKIP LOCKED".encode()).fetchall()


def _shuffled(workshop: Workshop) -> list[UUID]:
    ids = sorted(row["work_id"] for row in workshop.sql(ROWS))
    Random(5).shuffle(ids)
    return ids


def _lease(workshop: Workshop, tx: Transaction) -> Any:
    return tx.consolidation.take_lease(workshop.bank_id, workshop.scope(), 60)


WRITERS: dict[str, Callable[[Workshop, Transaction, list[UUID]], object]] = {
    "begin_call": lambda shop, tx, ids: tx.consolidation.begin_call(shop.bank_id, ids),
    "discard_answer": lambda shop, tx, ids: tx.consolidation.discard_answer(shop.bank_id, ids, "late", most_calls=9),
    "give_up": lambda shop, tx, ids: tx.consolidation.give_up(shop.bank_id, ids, "spent"),
    "defer": lambda shop, tx, _: tx.consolidation.defer(
        shop.bank_id, _lease(shop, tx), shop.clock.now() + timedelta(hours=1), "busy", fails_after=None
    ),
    "remove": lambda shop, tx, _: tx.memories.remove(
        shop.bank_id, [UnitId(row["fact_id"]) for row in shop.sql("SELECT fact_id FROM consolidation_work")]
    ),
    "reopen_all": lambda shop, tx, _: tx.curation.reopen_all(shop.bank_id),
    "revive": lambda shop, tx, _: tx.consolidation.revive(shop.bank_id, shop.scope()),
}
STATES = {"reopen_all": "done", "revive": "failed"}


@pytest.mark.parametrize("writer", WRITERS)
def test_whoever_writes_work_goes_in_its_order(
    workshop: Workshop, other: PostgresStore, locker: Locker, writer: str
) -> None:
    workshop.remember(*FACTS)
    state = STATES.get(writer, "pending")
    workshop.sql("UPDATE consolidation_work SET state = %s, failed_at = now() - interval '1 day'", state)
    ids = _shuffled(workshop)

    def write() -> None:
        with other.transaction(workshop.tenant) as tx:
            WRITERS[writer](workshop, tx, ids)

    with ThreadPoolExecutor(1) as worker:
        locker.lock()
        written = worker.submit(write)
        until_blocked(workshop.database)
        free = _free(workshop)
        locker.let_go()
        written.result()

    assert free == []


def test_an_answer_that_settles_some_and_overlooks_others_holds_all_before_it_writes_any(
    workshop: Workshop, other: PostgresStore, locker: Locker
) -> None:
    workshop.remember(*FACTS)

    def half(call: ModelCall) -> JsonObject:
        facts: Any = block(call, "facts")
        if len(workshop.model.calls) == 1:
            locker.lock()
        return creates(*[(f"Noted: {fact['text']}", [fact["id"]]) for fact in facts[: (len(facts) + 1) // 2]])

    workshop.answers(half)

    with ThreadPoolExecutor(1) as worker:
        drained = worker.submit(workshop.drain_elsewhere, other)
        until_blocked(workshop.database)
        free = _free(workshop)
        locker.let_go()
        drained.result()

    assert free == []
    assert len(workshop.observations()) == len(FACTS)


def test_an_undo_and_the_end_of_a_rebuild_go_in_order_too(
    workshop: Workshop, other: PostgresStore, locker: Locker
) -> None:
    workshop.configure(observations_mission=DETAIL)
    listening(workshop).remember(*FACTS)
    workshop.drain()
    (run,) = workshop.sql("SELECT run_id FROM consolidation_runs")
    workshop.configure(observations_mission=TRENDS)
    run_sweep(workshop)
    of_shadow = "scope_id IN (SELECT scope_id FROM hindsight.scopes WHERE rebuilds IS NOT NULL)"

    def drop() -> None:
        with other.transaction(workshop.tenant) as tx:
            tx.rebuilds.drop_all(workshop.bank_id)

    def undo() -> None:
        who = Principal(workshop.tenant, "anybody")
        revert(workshop.ports, who, "bank", RunId(run["run_id"]), retry=False)

    free = []
    for act, where in ((drop, of_shadow), (undo, "true")):
        with ThreadPoolExecutor(1) as worker:
            locker.lock(where)
            acted = worker.submit(act)
            until_blocked(workshop.database)
            free.append(_free(workshop, where))
            locker.let_go()
            acted.result()

    assert free == [[], []]


@pytest.mark.parametrize("is_rebuilding", [False, True], ids=["begins a rebuild", "takes facts over"])
def test_a_round_that_waits_for_facts_holds_no_scope(
    workshop: Workshop, other: PostgresStore, is_rebuilding: bool
) -> None:
    workshop.configure(observations_mission=DETAIL)
    listening(workshop).remember(*FACTS)
    workshop.drain()
    workshop.configure(observations_mission=TRENDS)
    where = ScopeAddress(workshop.tenant, workshop.bank_id, workshop.scope())
    if is_rebuilding:
        run_sweep(workshop)
        workshop.sql("DELETE FROM consolidation_work WHERE is_rebuild")
        (shadow,) = shadows(workshop)
        where = replace(where, scope_id=shadow["scope_id"])
    ports = replace(workshop.ports, store=other)

    with ThreadPoolExecutor(1) as worker, psycopg.connect(workshop.database.admin_url) as holding:
        holding.execute("SELECT FROM hindsight.memory_units WHERE fact_type = 'world' FOR UPDATE")
        drained = worker.submit(drain, ports, where, lambda: 900.0)
        until_blocked(workshop.database)
        with psycopg.connect(workshop.database.admin_url) as third:
            free = third.execute("SELECT FROM hindsight.scopes FOR NO KEY UPDATE SKIP LOCKED").fetchall()
        holding.rollback()
        drained.result()

    assert len(free) == 1 + is_rebuilding
