"""What goes wrong while a scope is drained, and what it costs: never a fact in silence, never another scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.consolidate import drain as drain_module
from hindsight_aws.consolidate import round as round_module
from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.errors import DatabaseUnavailable, ModelReplyMalformed, ModelThrottled, ModelUnavailable, WorkRaced
from hindsight_aws.faults import InjectedFault
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.consolidation import PostgresConsolidation
from hindsight_aws.store.observations import PostgresObservations
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates
from tests.support.invariants import broken
from tests.support.models import block
from tests.support.rebuilding import run_sweep

BANK = "/v1/default/banks/bank"
SCOPES = (["user:u"], ["team:t"], ["company:c"])


@pytest.fixture
def other(workshop: Workshop) -> Iterator[PostgresStore]:
    """Connections of somebody else's."""
    opened = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
    yield opened
    opened.close()


def _facts(call: ModelCall) -> list[dict[str, Any]]:
    shown: Any = block(call, "facts")
    return list(shown)


def _one_each(call: ModelCall) -> JsonObject:
    """An observation for each fact."""
    return creates(*[(f"Noted: {fact['text']}", [fact["id"]]) for fact in _facts(call)])


def _sizes(workshop: Workshop) -> list[int]:
    return [len(_facts(call)) for call in workshop.model.asked("consolidate")]


def _states(workshop: Workshop) -> list[str]:
    return sorted(state for rows in workshop.work().values() for state, _ in rows)


def _strike(monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """The worker dies the first time it comes to this point."""
    struck: list[str] = []

    def reached(name: str) -> None:
        if name == point and not struck:
            struck.append(name)
            raise InjectedFault(name)

    monkeypatch.setattr(round_module, "reached", reached)
    monkeypatch.setattr(drain_module, "reached", reached)


def _expire_leases(workshop: Workshop) -> None:
    workshop.sql("UPDATE scopes SET lease_until = '-infinity'")


def test_c100_a_model_that_breaks_on_company_still_gets_every_fact_alone(workshop: Workshop) -> None:
    workshop.remember(*[f"Fact {number}." for number in range(8)])
    workshop.answers(lambda call: {"creates": "broken"} if len(_facts(call)) > 1 else _one_each(call))

    ended = workshop.drain()

    assert ended is Drained.DONE
    assert _states(workshop) == ["done"] * 8
    assert len(workshop.observations()) == 8


def test_c104_a_malformed_answer_is_asked_for_once_in_each_size(workshop: Workshop) -> None:
    workshop.remember(*[f"Fact {number}." for number in range(8)])
    workshop.answers(ModelReplyMalformed("prose"))

    workshop.drain()

    assert _sizes(workshop) == [8, 4, 2, 1, 1, 2, 1, 1, 4, 2, 1, 1, 2, 1, 1]
    asked = [call.blocks for call in workshop.model.calls]
    assert len(set(asked)) == len(asked)
    assert _states(workshop) == ["failed"] * 8


def test_c102_a_fact_that_failed_is_not_asked_about_by_the_next_drain(workshop: Workshop) -> None:
    (failed,) = workshop.remember("One.")
    workshop.answers({"creates": "broken"})
    workshop.drain()
    (sound,) = workshop.remember("Two.")
    workshop.answers(_one_each)

    workshop.drain()

    assert [fact["id"] for fact in _facts(workshop.model.calls[0])] == [str(sound)]
    assert workshop.work()[failed] == [("failed", None)]


def test_c103_recovering_makes_failed_facts_wait_and_touches_nothing_else(workshop: Workshop, call: Caller) -> None:
    assert call("POST", f"{BANK}/consolidation/recover").json() == {"retried_count": 0}
    facts = workshop.remember("One.", "Two.")
    workshop.answers({"creates": "broken"})
    workshop.drain()
    before = workshop.sql("SELECT id, updated_at FROM memory_units ORDER BY id")
    workshop.wakeups.scopes.clear()

    recovered = call("POST", f"{BANK}/consolidation/recover").json()

    assert recovered == {"retried_count": 2}
    assert [workshop.work()[fact] for fact in facts] == [[("pending", None)]] * 2
    assert workshop.sql("SELECT id, updated_at FROM memory_units ORDER BY id") == before
    rows = workshop.sql("SELECT failed_at, done_at, attempts, calls, error FROM consolidation_work")
    assert [list(row.values()) for row in rows] == [[None, None, 0, 0, None]] * 2
    assert workshop.wakeups.scopes == []


def test_c105_an_outage_is_tried_again_ever_later_and_then_forgotten(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")
    workshop.answers(ModelUnavailable("503"), ModelUnavailable("503"), _one_each)
    ended = []

    for _ in range(3):
        ended.append(workshop.drain())
        workshop.sql("UPDATE consolidation_work SET due_at = now() WHERE state = 'pending'")

    assert ended == [Drained.DEFERRED, Drained.DEFERRED, Drained.DONE]
    assert workshop.wakeups.delays == [5, 10]
    assert len(workshop.model.calls) == 3
    assert workshop.work()[fact] == [("done", "created")]


def test_an_outage_that_never_ends_fails_the_fact_in_the_end(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")
    workshop.answers(ModelUnavailable("503"))
    most = workshop.settings.hindsight_api_consolidation_max_deferrals

    for _ in range(most + 2):
        workshop.drain()
        workshop.sql("UPDATE consolidation_work SET due_at = now() WHERE state = 'pending'")

    assert workshop.work()[fact] == [("failed", None)]
    assert len(workshop.model.calls) == most


def test_c107_a_quota_defers_the_work_to_the_time_it_resets_and_counts_as_no_failure(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")
    resets = workshop.clock.now() + timedelta(minutes=7)
    workshop.answers(ModelThrottled("quota", until=resets))

    for _ in range(workshop.settings.hindsight_api_consolidation_max_deferrals + 1):
        ended = workshop.drain()
        (row,) = workshop.sql("SELECT due_at, state, attempts, calls FROM consolidation_work")
        assert (ended, row["due_at"]) == (Drained.DEFERRED, resets)
        assert (row["state"], row["attempts"], row["calls"]) == ("pending", 0, 0)
        workshop.sql("UPDATE consolidation_work SET due_at = now()")

    assert set(workshop.wakeups.delays) == {420}
    assert workshop.work()[fact] == [("pending", None)]


def test_c109_a_scope_that_fails_once_is_done_again_alone_and_inflates_no_proof(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.", scopes=SCOPES)
    workshop.answers(_one_each, ModelUnavailable("503"), _one_each)
    for tags in SCOPES:
        workshop.drain(*tags)
    workshop.sql("UPDATE consolidation_work SET due_at = now()")

    for tags in SCOPES:
        workshop.drain(*tags)

    assert [[row["proof_count"] for row in workshop.observations(*tags)] for tags in SCOPES] == [[1]] * 3
    assert len(workshop.model.calls) == 4
    assert workshop.work()[fact] == [("done", "created")] * 3


@pytest.mark.parametrize(
    "point",
    ["consolidate.before_read", "consolidate.after_model", "consolidate.before_commit", "consolidate.after_apply",
     "consolidate.before_release"],
)  # fmt: skip
def test_c110_a_worker_that_dies_between_scopes_leaves_old_or_new_and_no_double(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    facts = workshop.remember("One.", "Two.", scopes=SCOPES)
    workshop.answers(_one_each)
    workshop.drain(*SCOPES[0])
    _strike(monkeypatch, point)
    with pytest.raises(InjectedFault):
        workshop.drain(*SCOPES[1])
    assert len(workshop.observations(*SCOPES[1])) in (0, 2)

    _expire_leases(workshop)
    for tags in SCOPES:
        workshop.drain(*tags)

    assert [len(workshop.observations(*tags)) for tags in SCOPES] == [2, 2, 2]
    assert all(workshop.work()[fact] == [("done", "created")] * 3 for fact in facts)
    with workshop.watching() as rows:
        assert broken(rows, [workshop.bank_id]) == []


@pytest.mark.parametrize(("races", "calls"), [pytest.param(1, 1, id="once"), pytest.param(2, 2, id="twice")])
def test_an_answer_that_lost_a_race_for_rows_is_written_again_before_another_is_paid_for(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, races: int, calls: int
) -> None:
    (fact,) = workshop.remember("One.")
    workshop.answers(_one_each)
    apply = PostgresObservations.apply
    raced: list[object] = []

    def races_first(self: PostgresObservations, *args: Any) -> None:
        if len(raced) < races:
            raced.append(args)
            raise WorkRaced("a deadlock")
        apply(self, *args)

    monkeypatch.setattr(PostgresObservations, "apply", races_first)

    assert workshop.drain() is Drained.DONE

    assert len(workshop.model.calls) == calls
    assert workshop.work()[fact] == [("done", "created")]
    ledger = workshop.sql("SELECT count(*) AS calls FROM usage_ledger WHERE task = 'consolidate'")
    assert ledger == [{"calls": calls}]


@pytest.mark.parametrize("step", ["read_round", "_work", "_is_through", "_release"])
def test_a_worker_that_lost_a_race_gives_the_scope_back_at_once(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    workshop.remember("One.")
    workshop.answers(_one_each)

    def races(*_: object, **__: object) -> None:
        raise WorkRaced("a deadlock")

    monkeypatch.setattr(drain_module, step, races)

    ended = workshop.drain()

    free = workshop.sql("SELECT count(*) AS scopes FROM scopes WHERE lease_until < now()")
    assert (ended, free, workshop.wakeups.delays) == (Drained.DEFERRED, [{"scopes": 1}], [5])
    monkeypatch.undo()
    assert workshop.drain() is Drained.DONE
    assert len(workshop.observations()) == 1


def test_c112_a_search_for_related_beliefs_that_fails_is_never_taken_for_none(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = workshop.remember("Kim likes tea.")
    workshop.answers(creates(("Kim likes tea.", [first])))
    workshop.drain()
    workshop.model.calls.clear()
    (second,) = workshop.remember("Kim likes tea.")

    def fails(self: object, *args: object) -> list[list[UUID]]:
        raise DatabaseUnavailable("the wire was cut")

    monkeypatch.setattr(PostgresConsolidation, "related", fails)

    with pytest.raises(DatabaseUnavailable):
        workshop.drain()

    assert workshop.model.calls == []
    assert workshop.work()[second] == [("pending", None)]


def test_c113_a_vector_of_another_size_is_never_written(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")
    workshop.embedder.fixed["Noted: One."] = [0.5] * 600
    workshop.answers(_one_each)

    with pytest.raises(ValueError, match="600 numbers"):
        workshop.drain()

    assert workshop.observations() == []
    assert workshop.work()[fact] == [("pending", None)]


def test_c113_an_embedder_that_answers_half_vectors_fails_the_fact_and_writes_nothing(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")
    workshop.embedder.failures = [ModelReplyMalformed("a vector of 256 numbers")]
    workshop.answers(_one_each)

    assert workshop.drain() is Drained.DONE

    assert workshop.observations() == []
    assert workshop.work()[fact] == [("failed", None)]


def test_c145_a_fact_that_comes_while_the_worker_is_leaving_is_still_worked_on(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.remember("One.")
    workshop.answers(_one_each)
    late: list[UUID] = []

    def reached(name: str) -> None:
        if name == "consolidate.before_release" and not late:
            late.extend(workshop.remember("Two."))

    monkeypatch.setattr(drain_module, "reached", reached)

    workshop.drain()

    assert workshop.work()[late[0]] == [("done", "created")]


def test_c146_a_fact_of_three_scopes_is_consolidated_when_the_third_is_done(workshop: Workshop, call: Caller) -> None:
    (fact,) = workshop.remember("One.", scopes=SCOPES)
    workshop.answers(_one_each)
    seen = []

    for tags in SCOPES:
        seen.append(_consolidation(call, fact))
        workshop.drain(*tags)

    assert [at for at, _ in seen] == [None, None, None]
    (done,) = workshop.sql("SELECT max(done_at) AS at FROM consolidation_work")
    at, failed = _consolidation(call, fact)
    assert at is not None
    assert (at[:19], failed) == (done["at"].isoformat()[:19], None)


def test_c147_a_scope_that_fails_for_good_leaves_the_others_done_and_is_told(workshop: Workshop, call: Caller) -> None:
    (fact,) = workshop.remember("One.", scopes=SCOPES)
    workshop.answers(_one_each, {"creates": "broken"}, _one_each)

    for tags in SCOPES:
        workshop.drain(*tags)

    assert sorted(workshop.work()[fact], key=str) == [("done", "created"), ("done", "created"), ("failed", None)]
    _, failed = _consolidation(call, fact)
    assert failed is not None
    told = call("GET", f"{BANK}/memories/{fact}").json()["consolidation"]
    assert [(one["scope"], one["state"], one["outcome"]) for one in told] == [
        (["company:c"], "done", "created"),
        (["team:t"], "failed", None),
        (["user:u"], "done", "created"),
    ]
    assert [one["error"] is None for one in told] == [True, False, True]
    scopes: list[dict[str, Any]] = call("GET", f"{BANK}/observations/scopes?include_pending=true").json()["scopes"]
    assert {scope["tags"][0]: scope["failed_count"] for scope in scopes} == {"user:u": 0, "team:t": 1, "company:c": 0}


def test_c148_a_source_deleted_while_two_scopes_ask_about_it_orphans_nothing(
    workshop: Workshop, other: PostgresStore
) -> None:
    gone, stays = workshop.remember("One.", "Two.", scopes=SCOPES[:2])

    def delete_meanwhile(call: ModelCall) -> JsonObject:
        answer = creates(("Both.", [str(gone), str(stays)]))  # type: ignore[list-item]  # ids as the model spells them
        if len(workshop.model.calls) == 1:
            workshop.drain_elsewhere(other, *SCOPES[1])
            with other.transaction(workshop.tenant) as tx:
                tx.memories.remove(workshop.bank_id, [gone])  # type: ignore[list-item]  # any id of a fact
        return answer if str(gone) in "".join(call.blocks) else _one_each(call)

    workshop.answers(delete_meanwhile)

    workshop.drain(*SCOPES[0])
    workshop.drain(*SCOPES[1])

    assert [sorted(row["evidence"]) for tags in SCOPES[:2] for row in workshop.observations(*tags)] == [
        [str(stays)]
    ] * 2
    with workshop.watching() as rows:
        assert broken(rows, [workshop.bank_id]) == []


def test_c149_after_a_lost_message_the_sweep_wakes_the_scope_again(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.", tags=["a"])
    workshop.remember("Two.", tags=["b"])
    workshop.answers(_one_each)
    workshop.drain("b")

    run_sweep(workshop)

    assert workshop.wakeups.scopes == [(workshop.tenant, workshop.bank_id, workshop.scope("a"))]
    workshop.drain("a")
    assert workshop.work()[fact] == [("done", "created")]


def test_a_fact_that_belongs_to_no_scope_says_so(workshop: Workshop, call: Caller) -> None:
    (fact,) = workshop.remember("One.", tags=["session:1"], scopes=[])

    told = call("GET", f"{BANK}/memories/{fact}").json()["consolidation"]

    assert told == [{"scope": None, "state": "done", "outcome": "no_scope", "error": None}]


def test_a_limited_key_is_told_of_a_facts_state_in_its_own_scopes_alone(
    workshop: Workshop, limited: Callable[..., Caller]
) -> None:
    (fact,) = workshop.remember("One.", tags=["user:u", "team:t"], scopes=SCOPES)
    own = limited(forced_tags={"tags": ["user:u"], "match": "any_strict"})

    told = own("GET", f"{BANK}/memories/{fact}").json()["consolidation"]

    assert [one["scope"] for one in told] == [["user:u"]]


@pytest.mark.parametrize(
    "answers",
    [pytest.param([{}], id="overlooked"), pytest.param([{"creates": "broken"}], id="malformed")],
)
def test_a_fact_that_has_cost_as_many_calls_as_it_may_fails(bounded: Workshop, answers: Sequence[JsonObject]) -> None:
    facts = bounded.remember(*[f"Fact {number}." for number in range(8)])
    bounded.answers(*answers)

    ended = bounded.drain()

    assert ended is Drained.DONE
    assert [bounded.work()[fact] for fact in facts] == [[("failed", None)]] * 8
    asked = "".join(str(_facts(call)) for call in bounded.model.calls)
    assert all(asked.count(str(fact)) == 2 for fact in facts)
    errors = {row["error"] for row in bounded.sql("SELECT error FROM consolidation_work")}
    assert None not in errors


def test_an_answer_that_came_too_late_counts_as_one_that_settled_nothing(bounded: Workshop) -> None:
    (fact,) = bounded.remember("One.")

    def edit_meanwhile(call: ModelCall) -> JsonObject:
        bounded.sql("UPDATE memory_units SET version = version + 1 WHERE id = %s", fact)
        return _one_each(call)

    bounded.answers(edit_meanwhile)

    assert bounded.drain() is Drained.DONE

    assert len(bounded.model.calls) == 2
    assert bounded.work()[fact] == [("failed", None)]


def test_pairs_past_the_most_questions_stay_apart(make_workshop: Callable[..., Workshop]) -> None:
    shop = make_workshop(hindsight_consolidation_max_duplicate_checks=2)
    shop.embedder.same = True
    facts = shop.remember(*[f"Fact {number}." for number in range(5)])
    shop.answers(creates(*[(f"Belief {n}.", [fact]) for n, fact in enumerate(facts)]), judge=[{"action": "merge"}])

    shop.drain()

    assert len(shop.model.asked("judge_duplicate")) == 2
    assert len(shop.observations()) == 3


@pytest.fixture
def make_workshop(workshop: Workshop, database: Any, store: PostgresStore) -> Callable[..., Workshop]:
    """Makes a workshop of the same tenant with other settings, on a bank of its own."""

    def make(**settings: object) -> Workshop:
        workshop.sql("UPDATE banks SET external_id = 'former' WHERE bank_id = %s", workshop.bank_id)
        return Workshop(database, workshop.tenant, store, **settings)

    return make


@pytest.fixture
def bounded(make_workshop: Callable[..., Workshop]) -> Workshop:
    """A workshop in which two answers may settle nothing."""
    return make_workshop(hindsight_consolidation_max_calls=2)


def _consolidation(call: Caller, fact: UUID) -> tuple[str | None, str | None]:
    """When the fact was consolidated, and when it failed, as the API tells."""
    items: list[dict[str, Any]] = call("GET", f"{BANK}/memories/list?type=world").json()["items"]
    (item,) = (item for item in items if item["id"] == str(fact))
    return item["consolidated_at"], item["consolidation_failed_at"]
