"""Whatever befalls facts, workers and messages, a bank at rest tells every live fact, and no other."""

from __future__ import annotations

import faulthandler
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from psycopg.rows import dict_row

from hindsight_aws import faults
from tests.conftest import chosen_dose
from tests.support.database import Database
from tests.support.lifecycle import DOCUMENTS, SCOPES, TAGS, World
from tests.support.moods import MOODS

WHICH = st.integers(0, 7)
LINES = st.lists(st.tuples(WHICH, st.integers(0, 3)), min_size=1, max_size=4)
DIES_AT = st.integers(1, 30)
RACES = ("twin", "edit", "twin", "invalidate", "delete", "forget", "clear")
"""What may happen to the very facts that a worker asks about, or by its side, while it waits for the answer."""
HAPPENINGS = st.sampled_from(("nothing", "time", "retag", "retain", *RACES))


class Life(RuleBasedStateMachine):
    """One world; it is set by the test."""

    world: World

    @rule(document=st.sampled_from(DOCUMENTS), lines=LINES, tags=st.sampled_from(TAGS), scopes=st.sampled_from(SCOPES))
    def retain(self, document: str, lines: list[tuple[int, int]], tags: tuple[str, ...], scopes: Any) -> None:
        self.world.retain(document, [self.world.line(*line) for line in lines], tags, scopes)

    @rule(which=WHICH, worker=st.integers(0, 1), mood=st.sampled_from(MOODS), happens=HAPPENINGS)
    def deliver(self, which: int, worker: int, mood: str, happens: str) -> None:
        self._set_the_scene(mood, happens, which, worker)
        self.world.deliver(which, worker)

    @rule(which=WHICH, worker=st.integers(0, 1), dies_at=DIES_AT, happens=HAPPENINGS)
    def die_at_work(self, which: int, worker: int, dies_at: int, happens: str) -> None:
        self._set_the_scene("good", happens, which, worker)
        self.world.deliver(which, worker, dies_at=dies_at)

    @rule(which=WHICH, lines=LINES, worker=st.integers(0, 1), happens=st.sampled_from(RACES), is_late=st.booleans())
    def race(self, which: int, lines: list[tuple[int, int]], worker: int, happens: str, is_late: bool) -> None:
        """A fact comes, and something else while somebody is asked about it, or before the answer is written."""
        self.world.is_late = is_late
        self.retain(DOCUMENTS[which % len(DOCUMENTS)], [(which, 2), *lines], (), None)
        self.world.deliver(0, worker, queue="ingest")
        self._set_the_scene("good", happens, which, worker)
        self.world.deliver(0, worker, queue="consolidate")

    @rule(which=WHICH, worker=st.integers(0, 1))
    def deliver_twice(self, which: int, worker: int) -> None:
        self.world.deliver(which, worker, doubled=True)

    @rule(which=WHICH)
    def lose(self, which: int) -> None:
        self.world.lose(which)

    @rule(which=WHICH, how=st.sampled_from(("edit", "invalidate", "revert", "delete", "delete archived")))
    def correct(self, which: int, how: str) -> None:
        self.world.correct(which, how)

    @rule(document=st.sampled_from(DOCUMENTS))
    def delete(self, document: str) -> None:
        self.world.delete(document)

    @rule(document=st.sampled_from(DOCUMENTS), tags=st.sampled_from(TAGS))
    def retag(self, document: str, tags: tuple[str, ...]) -> None:
        self.world.retag(document, tags)

    @rule(what=st.sampled_from(("all", "scope", "fact")), which=WHICH)
    def clear(self, what: str, which: int) -> None:
        self.world.clear(what, which)

    @rule(mission=st.sampled_from("AB"))
    def mission(self, mission: str) -> None:
        self.world.mission(mission)

    @rule(what=st.sampled_from(("consolidate", "recover")))
    def ask(self, what: str) -> None:
        self.world.ask(what)

    @rule()
    def time_and_a_sweep(self) -> None:
        self.world.pass_time()
        self.world.sweep()

    @rule()
    def everybody_works(self) -> None:
        for _ in range(8):
            self.world.deliver(0, 0)

    @invariant()
    def nothing_is_broken(self) -> None:
        assert self.world.broken() == []

    def teardown(self) -> None:
        try:
            self.world.settle()
            assert self.world.wrong() == []
        finally:
            self.world.close()

    def _set_the_scene(self, mood: str, happens: str, which: int, worker: int) -> None:
        world = self.world
        world.moods = [mood]
        acts = {
            "edit": lambda: world.correct(which, "edit"),
            "invalidate": lambda: world.correct(which, "invalidate"),
            "forget": lambda: world.correct(which, "delete"),
            "delete": lambda: world.delete(DOCUMENTS[which % len(DOCUMENTS)]),
            "clear": lambda: world.clear("all", which),
            "time": world.pass_time,
            "retag": lambda: world.retag(DOCUMENTS[which % len(DOCUMENTS)], TAGS[which % len(TAGS)]),
            "retain": lambda: world.retain(DOCUMENTS[which % len(DOCUMENTS)], [world.line(which, 2)], (), None),
            "twin": lambda: world.take_over(1 - worker),
        }
        world.meanwhile = acts.get(happens)


@pytest.mark.timeout(3_600)
def test_a_bank_at_rest_tells_every_live_fact_and_no_other(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(database.admin_url, row_factory=dict_row, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        worlds: list[World] = []

        def strike(_address: str, point: str) -> str:
            worlds[-1].strike(point)
            return ""

        def life() -> Life:
            worlds[:] = [World(database, rows)]
            machine = Life()
            machine.world = worlds[0]
            return machine

        monkeypatch.setattr(faults, "_ADDRESS", "here")
        monkeypatch.setattr(faults, "_ask", strike)
        is_deep = chosen_dose() == "deep"
        faulthandler.cancel_dump_traceback_later()  # a deep dose outlasts the patience of pytest's dump
        run_state_machine_as_test(
            life,  # type: ignore[arg-type]  # whatever makes a machine will do
            settings=settings(
                max_examples=500 if is_deep else 8,
                stateful_step_count=40 if is_deep else 25,
                suppress_health_check=list(HealthCheck),
            ),
        )
