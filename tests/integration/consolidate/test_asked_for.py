"""Consolidation that somebody asked for, that runs by itself, that is switched off, and that is cancelled."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.consolidate.submit import submit
from hindsight_aws.errors import ModelDenied, NotFound, WorkRaced
from hindsight_aws.model.ids import OperationId, ScopeId
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.cancel import cancel
from hindsight_aws.operations.retry import retry
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.consolidation import PostgresConsolidation
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates
from tests.support.contention import until_blocked
from tests.support.models import NotedWakeups, block
from tests.support.rebuilding import drain_woken, run_sweep, shadows

BANK = "/v1/default/banks/bank"


@pytest.fixture
def other(workshop: Workshop) -> Iterator[PostgresStore]:
    """Connections of somebody else's."""
    opened = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
    yield opened
    opened.close()


def _who(workshop: Workshop) -> Principal:
    return Principal(workshop.tenant, "tester")


def _ask(workshop: Workshop, *scopes: list[str]) -> OperationId:
    """Asks for consolidation of these scopes, or of the bank; the operation."""
    return submit(workshop.ports, _who(workshop), "bank", scopes or None).operation_id


def _ask_elsewhere(workshop: Workshop) -> OperationId:
    """The same for the bank, on connections of another caller's."""
    twin = copy(workshop)
    twin.store = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
    try:
        return _ask(twin)
    finally:
        twin.store.close()


def _statuses(workshop: Workshop) -> list[str]:
    return [row["status"] for row in workshop.sql("SELECT status FROM operations ORDER BY created_at")]


def _one_each(call: ModelCall) -> JsonObject:
    """An observation for each fact."""
    facts: Any = block(call, "facts")
    return creates(*[(f"Noted: {fact['text']}", [fact["id"]]) for fact in facts])


def test_c029_twenty_requests_at_once_are_one_operation(workshop: Workshop) -> None:
    workshop.remember("One.")

    with ThreadPoolExecutor(8) as callers:
        operations = set(callers.map(lambda _: _ask_elsewhere(workshop), range(20)))

    assert len(operations) == 1
    assert _statuses(workshop) == ["pending"]


def test_a_request_locks_the_work_before_the_bank(workshop: Workshop) -> None:
    """Whoever changes facts holds their work and comes to the bank last."""
    workshop.remember("One.", "Two.")

    with ThreadPoolExecutor(1) as caller:
        with psycopg.connect(workshop.database.admin_url) as writer:
            writer.execute("SELECT FROM hindsight.consolidation_work FOR UPDATE")
            asked = caller.submit(_ask_elsewhere, workshop)
            until_blocked(workshop.database)
            free = writer.execute("SELECT FROM hindsight.banks FOR NO KEY UPDATE SKIP LOCKED").fetchall()
        asked.result()

    assert len(free) == 1
    assert _statuses(workshop) == ["pending"]


@pytest.mark.parametrize("raced", ["request", "finish_operations"])
def test_a_request_that_meets_a_deadlock_is_made_again(
    workshop: Workshop, call: Caller, monkeypatch: pytest.MonkeyPatch, raced: str
) -> None:
    workshop.remember("One.")
    whole, races = getattr(PostgresConsolidation, raced), [WorkRaced("another transaction came in between")] * 3

    def racing(self: PostgresConsolidation, *given: object) -> object:
        if races:
            raise races.pop()
        return whole(self, *given)

    monkeypatch.setattr(PostgresConsolidation, raced, racing)
    asked = call("POST", f"{BANK}/consolidate")

    assert asked.status == 200
    assert _statuses(workshop) == ["pending"]


@pytest.mark.parametrize("action", ["request", "recover"])
def test_work_that_is_asked_for_is_locked_in_order(workshop: Workshop, other: PostgresStore, action: str) -> None:
    """The last row by id is held: whoever goes in order has all the others by then."""
    workshop.remember(*(f"Fact {n}." for n in range(8)))
    workshop.sql("UPDATE consolidation_work SET state = %s", "failed" if action == "recover" else "pending")
    rows = "SELECT work_id FROM hindsight.consolidation_work ORDER BY work_id"

    def ask() -> None:
        with other.transaction(workshop.tenant) as tx:
            getattr(tx.consolidation, action)(workshop.bank_id, None)

    with ThreadPoolExecutor(1) as caller:
        with psycopg.connect(workshop.database.admin_url) as writer:
            *_, last = writer.execute(rows).fetchall()
            writer.execute("SELECT FROM hindsight.consolidation_work WHERE work_id = %s FOR UPDATE", last)
            asked = caller.submit(ask)
            until_blocked(workshop.database)
            with psycopg.connect(workshop.database.admin_url) as third:
                free = third.execute(f"{rows} FOR UPDATE SKIP LOCKED").fetchall()
        asked.result()

    assert free == []


def test_c030_a_request_for_the_bank_is_not_absorbed_by_one_for_a_scope(workshop: Workshop) -> None:
    workshop.remember("One.", tags=["a"])

    assert _ask(workshop, ["a"]) != _ask(workshop)

    assert _statuses(workshop) == ["pending", "pending"]


def test_c031_two_requests_for_scopes_are_two_operations(workshop: Workshop) -> None:
    workshop.remember("One.", tags=["a"])

    assert _ask(workshop, ["a"]) != _ask(workshop, ["a"])

    assert _statuses(workshop) == ["pending", "pending"]


def test_c033_a_bank_that_is_not_there_has_nothing_to_consolidate(workshop: Workshop, call: Caller) -> None:
    with pytest.raises(NotFound):
        submit(workshop.ports, _who(workshop), "elsewhere", None)

    assert call("POST", "/v1/default/banks/elsewhere/consolidate").status == 404
    assert _statuses(workshop) == []


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[]", b" \n\t", b'{"observation_scopes": []}'], ids=repr)
def test_a_call_that_names_no_scope_is_for_the_whole_bank(workshop: Workshop, call: Caller, body: bytes) -> None:
    workshop.remember("One.", tags=["a"])
    workshop.remember("Two.", tags=["b"])
    workshop.sql("UPDATE consolidation_work SET state = 'failed'")

    recovered = call("POST", f"{BANK}/consolidation/recover", raw=body)
    asked = call("POST", f"{BANK}/consolidate", raw=body)

    assert (recovered.status, recovered.json()) == (200, {"retried_count": 2})
    assert asked.status == 200
    assert len(workshop.sql("SELECT work_id FROM consolidation_work WHERE requested")) == 2


@pytest.mark.parametrize(
    ("path", "field"),
    [("consolidate", "scopes"), ("consolidation/recover", "scopes"), ("consolidation/rebuild", "observation_scopes"),
     ("consolidate", "tags"), ("consolidation/rebuild", "exact_scope")],
)  # fmt: skip
def test_a_field_that_seems_to_narrow_a_call_and_is_not_known_is_refused(
    workshop: Workshop, call: Caller, path: str, field: str
) -> None:
    workshop.remember("One.", tags=["a"])

    answer = call("POST", f"{BANK}/{path}", {field: [["a"]]})

    assert answer.status == 422
    assert field in answer.json()["detail"][0]["msg"]
    assert workshop.sql("SELECT operation_id FROM operations") == []


def test_c034_an_operation_that_covers_a_second_request_waits_for_what_came_between(workshop: Workshop) -> None:
    workshop.remember("One.", tags=["a"])
    first = _ask(workshop)
    workshop.remember("Two.", tags=["b"])
    workshop.answers(_one_each)

    assert _ask(workshop) == first

    workshop.drain("a")
    assert _statuses(workshop) == ["pending"]
    workshop.drain("b")
    assert _statuses(workshop) == ["completed"]


def test_what_comes_after_the_last_request_keeps_no_operation_open(workshop: Workshop) -> None:
    workshop.remember("One.", tags=["a"])
    _ask(workshop)
    workshop.remember("Two.", tags=["b"])
    workshop.answers(_one_each)

    workshop.drain("a")

    assert _statuses(workshop) == ["completed"]


def test_c035_where_nothing_runs_by_itself_a_request_drains_all_that_is_there(workshop: Workshop, call: Caller) -> None:
    workshop.configure(enable_auto_consolidation=False)
    facts = workshop.remember(*[f"Fact {number}." for number in range(20)])
    workshop.answers(_one_each)
    workshop.drain()
    assert workshop.model.calls == []

    call("POST", f"{BANK}/consolidate")
    workshop.drain()

    assert len(workshop.model.asked("consolidate")) == 3
    assert all(workshop.work()[fact] == [("done", "created")] for fact in facts)
    assert _statuses(workshop) == ["completed"]


def test_c035_what_comes_while_the_request_is_worked_off_is_done_with_it_and_what_comes_later_waits(
    workshop: Workshop,
) -> None:
    workshop.configure(enable_auto_consolidation=False)
    (asked,) = workshop.remember("One.")
    _ask(workshop)
    meanwhile: list[UUID] = []

    def retain_meanwhile(call: ModelCall) -> JsonObject:
        if not meanwhile:
            meanwhile.extend(workshop.remember("Two."))
        return _one_each(call)

    workshop.answers(retain_meanwhile)
    workshop.drain()
    (later,) = workshop.remember("Three.")

    ended = workshop.drain()

    assert ended is Drained.DONE
    states = [workshop.work()[fact][0][0] for fact in (asked, *meanwhile, later)]
    assert states == ["done", "done", "pending"]


def test_a_run_that_was_reverted_to_be_tried_again_is_tried_again_though_nothing_runs_by_itself(
    workshop: Workshop, call: Caller
) -> None:
    workshop.configure(enable_auto_consolidation=False)
    (fact,) = workshop.remember("One.")
    _ask(workshop)
    workshop.answers(_one_each)
    workshop.drain()
    (run,) = workshop.sql("SELECT run_id FROM consolidation_runs")

    answer = call("POST", f"{BANK}/consolidation/runs/{run['run_id']}/revert", {"retry": True})
    assert (answer.status, workshop.work()[fact]) == (200, [("pending", None)])

    workshop.drain()
    assert workshop.work()[fact] == [("done", "created")]


def test_c036_switched_off_in_the_middle_it_stops_after_the_batch(workshop: Workshop) -> None:
    workshop.remember(*[f"Fact {number}." for number in range(20)])

    def switch_off(call: ModelCall) -> JsonObject:
        workshop.configure(enable_auto_consolidation=False)
        return _one_each(call)

    workshop.answers(switch_off)

    ended = workshop.drain()

    assert ended is Drained.DONE
    assert len(workshop.model.calls) == 1
    assert sorted(state for rows in workshop.work().values() for state, _ in rows) == ["done"] * 8 + ["pending"] * 12
    assert run_sweep(workshop).woken.get("consolidation") is None


def test_where_nothing_runs_by_itself_a_stray_wake_up_begins_no_rebuild_either(workshop: Workshop) -> None:
    workshop.remember("One.")
    workshop.answers(_one_each)
    workshop.drain()
    workshop.remember("Two.")
    workshop.configure(enable_auto_consolidation=False, observations_mission="Something else.")

    ended = workshop.drain()

    assert ended is Drained.DONE
    assert shadows(workshop) == []
    assert len(workshop.model.calls) == 1


def test_c037_when_the_wake_up_for_the_rest_is_lost_the_sweep_sends_another(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")
    assert workshop.drain(seconds=1.0) is Drained.UNFINISHED
    workshop.wakeups.scopes.clear()

    run_sweep(workshop)

    workshop.answers(_one_each)
    assert drain_woken(workshop) == [Drained.DONE]
    assert workshop.work()[fact] == [("done", "created")]


def test_c038_stranded_facts_cost_one_wake_up_a_scope(workshop: Workshop) -> None:
    workshop.remember("One.", "Two.", tags=["a"])
    workshop.remember("Three.", tags=["b"])

    run_sweep(workshop)

    assert sorted(workshop.wakeups.scopes) == sorted(
        (workshop.tenant, workshop.bank_id, workshop.scope(tag)) for tag in "ab"
    )


def test_c038_where_nothing_runs_by_itself_only_what_was_asked_for_is_woken(workshop: Workshop) -> None:
    workshop.configure(enable_auto_consolidation=False)
    workshop.remember("One.", tags=["a"])
    workshop.remember("Two.", tags=["b"])
    _ask(workshop, ["b"])
    workshop.wakeups.scopes.clear()

    run_sweep(workshop)

    assert workshop.wakeups.scopes == [(workshop.tenant, workshop.bank_id, workshop.scope("b"))]


def test_c039_facts_that_failed_wake_nobody_before_their_time(workshop: Workshop) -> None:
    workshop.remember("One.")
    workshop.answers({"creates": "broken"})
    workshop.drain()

    run_sweep(workshop)

    assert workshop.wakeups.scopes == []


def test_c111_cancelled_in_the_middle_it_stops_after_the_batch_and_takes_nothing_back(
    workshop: Workshop, other: PostgresStore
) -> None:
    facts = workshop.remember(*[f"Fact {number}." for number in range(20)])
    operation = _ask(workshop)

    def cancel_meanwhile(call: ModelCall) -> JsonObject:
        cancel(other, NotedWakeups(), _who(workshop), "bank", operation)
        return _one_each(call)

    workshop.answers(cancel_meanwhile, _one_each)

    ended = workshop.drain()

    assert ended is Drained.CANCELLED
    assert len(workshop.model.calls) == 1
    assert _statuses(workshop) == ["cancelled"]
    assert len(workshop.observations()) == 8
    assert sorted(workshop.work()[fact][0][0] for fact in facts) == ["done"] * 8 + ["pending"] * 12


def test_c111_a_cancel_during_the_last_answer_asks_no_second_question_about_it(
    workshop: Workshop, other: PostgresStore
) -> None:
    workshop.embedder.same = True
    (first,) = workshop.remember("Kim likes tea.")
    workshop.answers(creates(("Kim likes tea.", [first])))
    workshop.drain()
    (second,) = workshop.remember("Kim loves tea.")
    operation = _ask(workshop)

    def cancel_meanwhile(call: ModelCall) -> JsonObject:
        cancel(other, NotedWakeups(), _who(workshop), "bank", operation)
        return creates(("Kim loves tea.", [second]))

    workshop.answers(cancel_meanwhile, judge=[{"action": "merge"}])

    ended = workshop.drain()

    assert ended is Drained.CANCELLED
    assert workshop.model.asked("judge_duplicate") == []
    assert workshop.work()[second] == [("pending", None)]
    costs = workshop.sql("SELECT task FROM usage_ledger WHERE task = 'consolidate'")
    assert len(costs) == 2


def test_work_that_two_asked_for_goes_on_when_one_cancels(workshop: Workshop, other: PostgresStore) -> None:
    workshop.configure(enable_auto_consolidation=False)
    facts = workshop.remember(*[f"Fact {number}." for number in range(10)], tags=["a"])
    whole, _ = _ask(workshop), _ask(workshop, ["a"])

    def cancel_meanwhile(call: ModelCall) -> JsonObject:
        if len(workshop.model.calls) == 1:
            cancel(other, NotedWakeups(), _who(workshop), "bank", whole)
        return _one_each(call)

    workshop.answers(cancel_meanwhile)

    ended = workshop.drain("a")

    assert ended is Drained.DONE
    assert all(workshop.work()[fact] == [("done", "created")] for fact in facts)
    assert _statuses(workshop) == ["cancelled", "completed"]


def test_cancelled_work_is_not_woken_where_nothing_runs_by_itself_until_it_is_retried(
    workshop: Workshop, other: PostgresStore
) -> None:
    workshop.configure(enable_auto_consolidation=False)
    (fact,) = workshop.remember("One.")
    operation = _ask(workshop)
    workshop.wakeups.scopes.clear()
    cancel(other, NotedWakeups(), _who(workshop), "bank", operation)
    run_sweep(workshop)
    assert workshop.wakeups.scopes == []

    retry(other, workshop.wakeups, _who(workshop), "bank", operation)

    workshop.answers(_one_each)
    drain_woken(workshop)
    assert workshop.work()[fact] == [("done", "created")]
    assert _statuses(workshop) == ["completed"]


def test_a_wake_up_that_came_after_the_cancel_is_not_lost(workshop: Workshop, other: PostgresStore) -> None:
    workshop.remember("One.")
    operation = _ask(workshop)
    workshop.wakeups.scopes.clear()
    mine = workshop.store

    def cancel_meanwhile(call: ModelCall) -> JsonObject:
        cancel(other, NotedWakeups(), _who(workshop), "bank", operation)
        late.extend(workshop.remember("Two."))
        workshop.store = other
        assert workshop.drain() is Drained.HELD
        workshop.store = mine
        return _one_each(call)

    late: list[UUID] = []
    workshop.answers(cancel_meanwhile, _one_each)

    assert workshop.drain() is Drained.CANCELLED

    assert workshop.wakeups.scopes == [(workshop.tenant, workshop.bank_id, ScopeId(workshop.scope()))]
    drain_woken(workshop)
    assert workshop.work()[late[0]] == [("done", "created")]


def test_c106_a_model_that_refuses_the_caller_fails_what_was_asked_for_and_no_fact(
    workshop: Workshop, call: Caller
) -> None:
    (fact,) = workshop.remember("One.")
    operation = _ask(workshop)
    workshop.answers(ModelDenied("the key is not valid"))

    ended = workshop.drain()

    assert ended is Drained.DEFERRED
    assert workshop.work()[fact] == [("pending", None)]
    shown = call("GET", f"{BANK}/operations/{operation}").json()
    assert (shown["status"], shown["error_message"]) == ("failed", "the key is not valid")
    assert len(workshop.model.calls) == 1
    assert workshop.drain() is Drained.DONE
    assert len(workshop.model.calls) == 1


def test_a_consolidation_tells_how_far_it_is_and_what_it_did(workshop: Workshop, call: Caller) -> None:
    """[§15] Progress while it goes on, counts when it has ended."""
    workshop.remember("One.", "Two.", tags=["a"])
    workshop.remember("Three.", tags=["b"])
    operation_id = call("POST", f"{BANK}/consolidate").json()["operation_id"]
    workshop.answers(_one_each)

    seen = [call("GET", f"{BANK}/operations/{operation_id}").json()]
    for tag in ("a", "b"):
        workshop.drain(tag)
        seen.append(call("GET", f"{BANK}/operations/{operation_id}").json())

    assert [one["status"] for one in seen] == ["pending", "processing", "completed"]
    assert [(one["progress"]["processed"], one["progress"]["total"]) for one in seen[:2]] == [(0, 3), (2, 3)]
    assert seen[1]["progress"]["stage"] == "consolidating"
    assert seen[2]["result_metadata"] == {
        "memories_processed": 3,
        "memories_failed": 0,
        "observations_created": 3,
        "observations_updated": 0,
        "observations_deleted": 0,
    }
