"""Any order of facts, edits, deletions, missions, sweeps, drains cut short and dying workers ends in one state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row

from hindsight_aws.consolidate.drain import drain
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import chosen_dose
from tests.support.consolidation import Workshop, creates
from tests.support.database import Database, make_tenant
from tests.support.invariants import broken, stranded
from tests.support.models import NotedWakeups, ScriptedModel, block
from tests.support.rebuilding import drain_woken, run_sweep, shadows, texts

TAGS = "team:exec"
POINTS = (
    "consolidate.after_model",
    "consolidate.before_commit",
    "consolidate.before_swap_commit",
    "consolidate.before_read",
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), st.integers(1, 3)),
        st.tuples(st.just("mission"), st.sampled_from("ABC")),
        st.tuples(st.just("sweep"), st.just(0)),
        st.tuples(st.just("drain"), st.integers(0, 3)),
        st.tuples(st.just("die"), st.sampled_from(POINTS)),
        st.tuples(st.just("edit"), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
    ),
    min_size=3,
    max_size=14,
)


class Killed(BaseException):
    """A worker's sudden end."""


class World:
    """One scope, its facts as they should be, and the mission they should be told under."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.facts: dict[UUID, str] = {}
        self.said = 0
        self.dies_at: str | None = None
        self.mission = "A"
        self.do("mission", "A")
        workshop.model = ScriptedModel(_told)

    def do(self, step: str, value: Any) -> None:
        getattr(self, f"_{step}")(value)

    def reached(self, point: str) -> None:
        """Kills the worker where it is to die."""
        if point == self.dies_at:
            self.dies_at = None
            raise Killed

    def settle(self) -> None:
        """Time passes: leases run out, sweeps come, everybody works to the end."""
        for _ in range(3):
            self.workshop.sql("UPDATE scopes SET lease_until = '-infinity' WHERE lease_until > now()")
            run_sweep(self.workshop)
            drain_woken(self.workshop)

    def _remember(self, count: int) -> None:
        texts_ = [f"Fact {self.said + n}." for n in range(count)]
        self.said += count
        self.facts.update(zip(self.workshop.remember(*texts_, tags=[TAGS]), texts_, strict=True))

    def _mission(self, mission: str) -> None:
        self.mission = mission
        self.workshop.configure(observations_mission=mission, consolidation_llm_batch_size=2)

    def _sweep(self, _: int) -> None:
        run_sweep(self.workshop)

    def _drain(self, questions: int) -> None:
        self.workshop.wakeups = NotedWakeups()
        for scope in self.workshop.sql("SELECT scope_id FROM scopes ORDER BY rebuilds IS NULL, scope_id"):
            self._drain_one(ScopeId(scope["scope_id"]), questions)

    def _drain_one(self, scope_id: ScopeId, questions: int) -> None:
        left = iter([900.0] * questions)
        where = ScopeAddress(self.workshop.tenant, self.workshop.bank_id, scope_id)
        try:
            drain(self.workshop.ports, where, lambda: next(left, 0.0))
        except Killed:
            self.workshop.sql("UPDATE scopes SET lease_until = '-infinity'")

    def _die(self, point: str) -> None:
        self.dies_at = point
        self._drain(3)
        self.dies_at = None

    def _edit(self, which: int) -> None:
        if fact := self._chosen(which):
            self.facts[fact] = f"Edited {self.said}."
            self.said += 1
            with self.workshop.store.transaction(self.workshop.tenant) as tx:
                tx.observations.sweep(self.workshop.bank_id, [fact])
            self.workshop.sql(
                "UPDATE memory_units SET text = %s, version = version + 1 WHERE id = %s", self.facts[fact], fact
            )
            self.workshop.sql(
                "UPDATE consolidation_work SET state = 'pending', outcome = NULL, done_at = NULL "
                "WHERE fact_id = %s AND NOT is_rebuild",
                fact,
            )

    def _delete(self, which: int) -> None:
        if fact := self._chosen(which):
            del self.facts[fact]
            with self.workshop.store.transaction(self.workshop.tenant) as tx:
                tx.observations.sweep(self.workshop.bank_id, [fact])
            self.workshop.sql("DELETE FROM memory_units WHERE id = %s", fact)

    def _chosen(self, which: int) -> UUID | None:
        return list(self.facts)[which % len(self.facts)] if self.facts else None


def _told(call: ModelCall) -> JsonObject:
    if call.task == "judge_duplicate":
        return {"action": "keep"}
    mission, facts = block(call, "mission")["text"], block(call, "facts")
    told: Any = facts
    return creates(*[(f"{mission} says: {fact['text']}", [fact["id"]]) for fact in told])


@contextmanager
def a_world(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    store = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    with (
        psycopg.connect(database.admin_url, row_factory=dict_row, autocommit=True) as rows,
        monkeypatch.context() as patch,
    ):
        rows.execute("SET search_path = hindsight, public")
        workshop = Workshop(database, make_tenant(database), store)
        workshop.rows = rows
        world = World(workshop)
        for module in ("round", "generation", "drain"):
            patch.setattr(f"hindsight_aws.consolidate.{module}.reached", world.reached)
        yield world
        rows.execute("DELETE FROM tenants")
    store.close()


@pytest.mark.timeout(600)
@settings(max_examples=300 if chosen_dose() == "deep" else 12, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_every_scope_ends_under_its_mission_with_every_fact_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, steps: list[tuple[str, Any]]
) -> None:
    with a_world(database, monkeypatch) as world:
        for step, value in steps:
            world.do(step, value)
        world.settle()

        workshop = world.workshop
        told = sorted(f"{world.mission} says: {text}" for text in world.facts.values())
        assert (texts(workshop, TAGS) if world.said else []) == told
        assert shadows(workshop) == []
        assert workshop.rows is not None
        found = [problem for problem in broken(workshop.rows, [workshop.bank_id]) if not _is_of_counters(problem)]
        assert found + stranded(workshop.rows, [workshop.bank_id]) == []


def _is_of_counters(problem: str) -> bool:
    """Whether it is about facts that the test itself deleted past the counters."""
    return problem.startswith("a counter is wrong") and "'observation'" not in problem
