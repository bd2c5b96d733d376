"""Workers that die of what they ask: each call they made is counted, and there is an end to them (G10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.consolidate import compact as compact_module
from hindsight_aws.consolidate import round as round_module
from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.errors import ModelThrottled
from hindsight_aws.faults import InjectedFault
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.consolidation import PostgresConsolidation
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates
from tests.support.database import Database
from tests.support.models import ScriptedModel, block
from tests.support.rebuilding import drain_woken, run_sweep

BANK = "/v1/default/banks/bank"
MOST = 6


@pytest.fixture
def bounded(database: Database, workshop: Workshop, store: PostgresStore) -> Workshop:
    """A workshop in which six calls about a fact may settle nothing."""
    workshop.sql("UPDATE banks SET external_id = 'former' WHERE bank_id = %s", workshop.bank_id)
    return Workshop(database, workshop.tenant, store, hindsight_consolidation_max_calls=MOST)


def _asked(call: ModelCall) -> list[dict[str, Any]]:
    shown: Any = block(call, "facts")
    return list(shown)


def _one_each(call: ModelCall) -> JsonObject:
    """An observation for each fact."""
    return creates(*[(f"Noted: {fact['text']}", [fact["id"]]) for fact in _asked(call)])


def _dies_of(monkeypatch: pytest.MonkeyPatch, workshop: Workshop, poison: UUID, point: str) -> None:
    """Whoever asks about this fact is dead when it comes to the point."""

    def reached(name: str) -> None:
        if name == point and workshop.model.calls and str(poison) in "".join(workshop.model.calls[-1].blocks):
            raise InjectedFault(name)

    monkeypatch.setattr(round_module, "reached", reached)


def _deliver_until_nothing_is_due(workshop: Workshop) -> None:
    """Sweeps and workers in turn, leases of the dead running out between them."""
    for _ in range(30):
        workshop.sql("UPDATE scopes SET lease_until = '-infinity'")
        run_sweep(workshop)
        if not workshop.wakeups.scopes:
            return
        try:
            drain_woken(workshop)
        except InjectedFault:
            workshop.wakeups.scopes.clear()
    raise AssertionError("there is no end to it")


def _calls_about(workshop: Workshop, fact: UUID) -> list[int]:
    """How many facts were asked about together each time that this one was among them."""
    asked = [[one["id"] for one in _asked(call)] for call in workshop.model.asked("consolidate")]
    return [len(together) for together in asked if str(fact) in together]


@pytest.mark.parametrize("point", ["consolidate.after_model", "consolidate.before_commit"])
def test_a_fact_that_workers_die_of_is_asked_about_ever_more_alone_and_then_fails(
    bounded: Workshop, monkeypatch: pytest.MonkeyPatch, call: Caller, point: str
) -> None:
    poison, *others = bounded.remember(*[f"Fact {number}." for number in range(8)])
    bounded.answers(_one_each)
    _dies_of(monkeypatch, bounded, poison, point)

    _deliver_until_nothing_is_due(bounded)

    assert _calls_about(bounded, poison) == [8, 4, 2, 1, 1, 1]
    assert bounded.work()[poison] == [("failed", None)]
    assert all(bounded.work()[fact] == [("done", "created")] for fact in others)
    (told,) = call("GET", f"{BANK}/memories/{poison}").json()["consolidation"]
    assert told["state"] == "failed"
    assert "given up after 6 model calls" in told["error"]


def test_a_fact_that_workers_die_of_in_one_scope_is_done_with_in_the_others(
    bounded: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    scopes = (["user:u"], ["team:t"])
    (fact,) = bounded.remember("One.", scopes=scopes)
    bounded.answers(_one_each)
    bounded.drain(*scopes[1])
    _dies_of(monkeypatch, bounded, fact, "consolidate.after_model")

    _deliver_until_nothing_is_due(bounded)

    assert sorted(bounded.work()[fact], key=str) == [("done", "created"), ("failed", None)]


def test_what_died_too_often_is_asked_about_again_after_recovery(
    bounded: Workshop, monkeypatch: pytest.MonkeyPatch, call: Caller
) -> None:
    (fact,) = bounded.remember("One.")
    bounded.answers(_one_each)
    with monkeypatch.context() as deadly:
        _dies_of(deadly, bounded, fact, "consolidate.after_model")
        _deliver_until_nothing_is_due(bounded)
    failed = bounded.work()[fact]

    recovered = call("POST", f"{BANK}/consolidation/recover").json()
    _deliver_until_nothing_is_due(bounded)

    assert (failed, recovered) == ([("failed", None)], {"retried_count": 1})
    assert bounded.work()[fact] == [("done", "created")]


def test_a_call_is_counted_once_for_its_whole_batch_and_committed_before_it_is_made(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.remember(*[f"Fact {number}." for number in range(20)])
    seen: list[list[int]] = []
    counted: list[int] = []

    def looks(call: ModelCall) -> JsonObject:
        rows = workshop.sql("SELECT calls FROM consolidation_work WHERE state = 'pending' ORDER BY calls DESC")
        seen.append([row["calls"] for row in rows[: len(_asked(call))]])
        return _one_each(call)

    begin = PostgresConsolidation.begin_call

    def counts(self: PostgresConsolidation, bank_id: Any, work_ids: Sequence[UUID]) -> None:
        counted.append(len(work_ids))
        begin(self, bank_id, work_ids)

    monkeypatch.setattr(PostgresConsolidation, "begin_call", counts)
    workshop.answers(looks)

    workshop.drain()

    assert counted == [8, 8, 4]
    assert seen == [[1] * 8, [1] * 8, [1] * 4]


def test_a_worker_that_dies_before_it_asks_has_counted_the_call(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.remember("One.")
    workshop.answers(_one_each)

    def reached(name: str) -> None:
        if name == "consolidate.before_model":
            raise InjectedFault(name)

    monkeypatch.setattr(round_module, "reached", reached)

    with pytest.raises(InjectedFault):
        workshop.drain()

    assert workshop.model.calls == []
    assert workshop.sql("SELECT calls, attempts, state FROM consolidation_work") == [
        {"calls": 1, "attempts": 1, "state": "pending"}
    ]


def test_answers_that_are_lost_because_the_judge_is_always_busy_come_to_an_end(bounded: Workshop) -> None:
    """The quota of the second question defers the work; the first, which was answered, is paid for each time."""
    bounded.embedder.same = True
    (first,) = bounded.remember("One.")
    bounded.answers(creates(("Kim likes tea.", [first])))
    bounded.drain()
    (second,) = bounded.remember("Two.")
    bounded.answers(_one_each, judge=[ModelThrottled("quota")])

    ended = []
    for _ in range(MOST + 3):
        ended.append(bounded.drain())
        bounded.sql("UPDATE consolidation_work SET due_at = now() WHERE state = 'pending'")

    assert ended[-1] is Drained.DONE
    assert len(_calls_about(bounded, second)) == MOST
    assert bounded.work()[second] == [("failed", None)]
    assert bounded.wakeups.delays == [10, 10, 20, 40, 80, 160]


def test_looks_for_near_duplicates_that_workers_die_of_end_with_a_suggestion(
    bounded: Workshop, monkeypatch: pytest.MonkeyPatch, call: Caller
) -> None:
    bounded.configure(near_duplicates="merge")
    bounded.embedder.fixed = {"Ann rows.": [1.0, 0.0], "Ann is rowing.": [0.96, 0.28]}
    facts = bounded.remember("Ann rows.", "Ann is rowing.")
    bounded.answers(creates(("Ann rows.", [facts[0]]), ("Ann is rowing.", [facts[1]])))
    bounded.drain()
    bounded.model = ScriptedModel(lambda _: {"action": "keep"})
    bounded.sql("UPDATE scopes SET unmeasured_since = unmeasured_since - interval '31 hours'")
    with monkeypatch.context() as deadly:
        deadly.setattr(compact_module, "_is_written", _dead)
        _deliver_until_nothing_is_due(bounded)

    assert len(bounded.model.calls) == MOST
    assert bounded.sql("SELECT pairs, merged FROM compactions WHERE done_at IS NOT NULL") == [{"pairs": 1, "merged": 0}]
    assert len(call("GET", f"{BANK}/consolidation/suggestions").json()["suggestions"]) == 1


def _dead(*_: object) -> bool:
    raise InjectedFault("compaction")


@pytest.mark.parametrize("automatic", [True, False])
def test_c038_recovery_starts_nothing_where_nothing_runs_by_itself(
    workshop: Workshop, call: Caller, make_failed: Callable[[], UUID], automatic: bool
) -> None:
    """What was once asked for, and failed, is nobody's request any more: it waits as a new fact does."""
    fact = make_failed()
    workshop.configure(enable_auto_consolidation=automatic)
    call("POST", f"{BANK}/consolidation/recover")

    run_sweep(workshop)
    drain_woken(workshop)
    by_itself = workshop.work()[fact]
    call("POST", f"{BANK}/consolidate")
    run_sweep(workshop)
    drain_woken(workshop)

    assert by_itself == ([("done", "created")] if automatic else [("pending", None)])
    assert workshop.work()[fact] == [("done", "created")]


@pytest.fixture
def make_failed(workshop: Workshop, call: Caller) -> Callable[[], UUID]:
    """A fact whose consolidation somebody asked for, and which failed; the model is well again."""

    def make() -> UUID:
        (fact,) = workshop.remember("One.")
        call("POST", f"{BANK}/consolidate")
        workshop.answers({"creates": "broken"}, _one_each)
        workshop.drain()
        workshop.wakeups.scopes.clear()
        return fact

    return make
