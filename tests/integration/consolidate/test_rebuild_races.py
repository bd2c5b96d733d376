"""A swap meets whoever removes, adds or reads the same facts: each waits for the other, and nothing is left over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.model.ids import TenantId, UnitId
from hindsight_aws.model.scope import Scope
from hindsight_aws.store.postgres import PostgresStore, PostgresTransaction
from hindsight_aws.store.rebuilds import PostgresRebuilds
from tests.support.consolidation import Workshop
from tests.support.contention import until_blocked
from tests.support.database import Database
from tests.support.invariants import broken, stranded
from tests.support.rebuilding import DETAIL, TRENDS, drain_woken, listening, run_sweep, shadows, texts

FACTS = ["Ada rows.", "Bo sails.", "Cy swims."]


@pytest.fixture
def other_store(database: Database) -> Iterator[PostgresStore]:
    opened = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield opened
    opened.close()


@pytest.fixture
def facts(workshop: Workshop) -> list[UUID]:
    """Three facts of one scope, whose rebuild has begun."""
    listening(workshop).configure(observations_mission=DETAIL)
    made = workshop.remember(*FACTS, tags=["club"])
    workshop.drain("club")
    run_sweep(workshop)
    workshop.configure(observations_mission=TRENDS)
    run_sweep(workshop)
    return made


def _remove(tx: PostgresTransaction, workshop: Workshop, fact: UUID) -> None:
    """What every removal of a fact does, past the counters of facts."""
    tx.session.connection.execute("SELECT FROM memory_units WHERE id = %s FOR UPDATE", (fact,))
    tx.observations.sweep(workshop.bank_id, [fact])
    tx.session.connection.execute("DELETE FROM memory_units WHERE id = %s", (fact,))


def _sound(workshop: Workshop) -> None:
    with psycopg.connect(workshop.database.admin_url, row_factory=dict_row, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        found = [problem for problem in broken(rows, [workshop.bank_id]) if "'world'" not in problem]
        assert found + stranded(rows, [workshop.bank_id]) == []


def test_a_fact_that_is_being_removed_is_waited_for_and_is_not_in_the_new_generation(
    workshop: Workshop, other_store: PostgresStore, database: Database, tenant: TenantId, facts: list[UUID]
) -> None:
    with ThreadPoolExecutor(1) as thread:
        with other_store.transaction(tenant) as tx:
            _remove(tx, workshop, facts[0])
            draining = thread.submit(drain_woken, workshop)
            until_blocked(database)
        draining.result(60)
    run_sweep(workshop)
    drain_woken(workshop)

    assert (texts(workshop, "club"), shadows(workshop)) == (FACTS[1:], [])
    _sound(workshop)


def test_a_removal_during_the_swap_takes_the_new_observation_with_it(
    workshop: Workshop,
    other_store: PostgresStore,
    database: Database,
    tenant: TenantId,
    facts: list[UUID],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    swapped, goes_on = threading.Event(), threading.Event()

    def wait_at_the_swap(point: str) -> None:
        if point == "consolidate.before_swap_commit":
            swapped.set()
            assert goes_on.wait(60)

    def remove() -> None:
        with other_store.transaction(tenant) as tx:
            _remove(tx, workshop, facts[0])

    monkeypatch.setattr("hindsight_aws.consolidate.generation.reached", wait_at_the_swap)
    with ThreadPoolExecutor(2) as threads:
        draining = threads.submit(drain_woken, workshop)
        assert swapped.wait(60)
        removing = threads.submit(remove)
        until_blocked(database)
        goes_on.set()
        draining.result(60)
        removing.result(60)
    run_sweep(workshop)
    drain_woken(workshop)

    assert (texts(workshop, "club"), shadows(workshop)) == (FACTS[1:], [])
    _sound(workshop)


def test_whoever_drains_a_scope_whose_shadow_is_being_swapped_waits_for_nobody(
    workshop: Workshop, other_store: PostgresStore, facts: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    swap, hold = PostgresRebuilds.swap, PostgresRebuilds._hold
    (late,) = workshop.remember("Di dives.", tags=["club"], scopes=[["pool"]])
    ended: list[Drained] = []

    def finds_a_new_fact(self: PostgresRebuilds, *args: Any) -> bool:
        if not ended:
            with other_store.transaction(workshop.tenant) as tx:
                tx.scopes.open_work(workshop.bank_id, {UnitId(late): [Scope.of(["club"])]})
            monkeypatch.setattr(PostgresRebuilds, "_hold", with_company)
        return swap(self, *args)

    def with_company(self: PostgresRebuilds, *args: Any) -> dict[UUID, int]:
        if not ended:
            with ThreadPoolExecutor(1) as thread:
                ended.append(thread.submit(workshop.drain_elsewhere, other_store, "club").result(60))
        return hold(self, *args)

    monkeypatch.setattr(PostgresRebuilds, "swap", finds_a_new_fact)

    drain_woken(workshop)
    run_sweep(workshop)
    drain_woken(workshop)

    assert ended == [Drained.ASIDE]
    assert (texts(workshop, "club"), shadows(workshop)) == (sorted([*FACTS, "Di dives."]), [])
    _sound(workshop)


def test_two_sweeps_at_once_begin_one_rebuild(
    workshop: Workshop, other_store: PostgresStore, facts: list[UUID]
) -> None:
    workshop.sql("DELETE FROM scopes WHERE rebuilds IS NOT NULL")
    workshop.sql("DELETE FROM operations")
    workshop.sql("UPDATE banks SET policy_seen = NULL")
    other = Workshop.__new__(Workshop)
    other.__dict__.update(workshop.__dict__)
    other.store = other_store

    with ThreadPoolExecutor(2) as threads:
        for sweeping in [threads.submit(run_sweep, one) for one in (workshop, other)]:
            sweeping.result(60)

    assert len(shadows(workshop)) == 1
    assert len(workshop.sql("SELECT operation_id FROM operations WHERE kind = 'policy_rebuild'")) == 1
