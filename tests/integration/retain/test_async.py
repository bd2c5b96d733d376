"""Work that a worker does later: written once, done once, whatever the messages do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest

from hindsight_aws.errors import Conflict, InvalidRequest
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.retain import RetainItem, RetainResult
from tests.integration.retain.conftest import Workshop
from tests.support.sweeping import sweep_once

_THREE = tuple(RetainItem(f"Fact {number}.", document_id=f"d{number}") for number in range(3))


def _statuses(workshop: Workshop) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in workshop.rows("SELECT kind, status FROM operations ORDER BY kind, created_at"):
        found.setdefault(row["kind"], []).append(row["status"])
    return found


def test_submitted_work_is_done_by_a_worker(workshop: Workshop) -> None:
    result = workshop.submit(*_THREE)

    assert (result.is_async, result.operation_ids, result.usage) == (True, None, None)
    assert workshop.texts() == []
    assert _statuses(workshop) == {"batch_retain": ["pending"], "retain": ["pending"]}

    workshop.deliver_all()

    assert sorted(workshop.texts()) == ["Fact 0.", "Fact 1.", "Fact 2."]
    assert _statuses(workshop) == {"batch_retain": ["completed"], "retain": ["completed"]}
    (parent,) = workshop.rows("SELECT operation_id, result, items_count FROM operations WHERE kind = 'batch_retain'")
    assert parent["operation_id"] == result.operation_id
    assert parent["result"] == {
        "is_parent": True, "items_count": 3, "total_tokens": parent["result"]["total_tokens"], "num_sub_batches": 1,
        "unit_ids_count": 3, "extraction_errors_count": 0,
        "usage": {
            "input_tokens": 300, "output_tokens": 60, "total_tokens": 360, "cached_tokens": 0, "thoughts_tokens": 0,
        },
    }  # fmt: skip


def test_a_finished_operation_holds_no_text(workshop: Workshop) -> None:
    workshop.submit(RetainItem("A secret."))
    workshop.retain(RetainItem("Another secret."))

    workshop.deliver_all()

    assert [row["payload"] for row in workshop.rows("SELECT payload FROM operations")] == [{}, {}, {}]
    assert workshop.rows("SELECT * FROM kept_extractions") == []


def test_large_requests_become_several_operations_that_roll_up(workshop: Workshop) -> None:
    text = "\n".join(f"Line {number} " + "says something new " * 40 for number in range(60))
    items = tuple(RetainItem(f"{number}\n{text}") for number in range(4))
    workshop.configure(hindsight_api_retain_parallelism=2)

    workshop.submit(*items)

    assert _statuses(workshop)["retain"] == ["pending"] * 4
    tenant, first, _ = workshop.wakeups.operations[0]
    workshop.deliver(tenant, first)
    assert _statuses(workshop)["batch_retain"] == ["pending"]
    workshop.deliver_all()
    assert _statuses(workshop)["batch_retain"] == ["completed"]
    assert len(workshop.texts()) == 4 * 61


def test_of_those_that_wait_for_a_document_only_the_next_is_woken(workshop: Workshop) -> None:
    for number in range(5):
        workshop.submit(RetainItem(f"Turn {number}.", document_id="talk", update_mode="append"))
    (tenant, first, _), *others = workshop.wakeups.operations
    workshop.wakeups.operations.clear()
    for _, operation_id, _ in others:
        workshop.deliver(tenant, operation_id)
    tried_too_early = list(workshop.wakeups.operations)

    workshop.deliver(tenant, first)

    assert tried_too_early == []
    assert [operation_id for _, operation_id, _ in workshop.wakeups.operations] == [others[0][1]]
    workshop.deliver_all()
    assert workshop.texts() == [f"Turn {number}." for number in range(5)]


def test_a_giant_text_keeps_every_line_in_order(workshop: Workshop) -> None:
    lines = [f"Line {number} of a very long document." for number in range(1_000)]

    workshop.submit(RetainItem("\n".join(lines), document_id="giant"))
    workshop.deliver_all()

    assert workshop.texts() == lines
    assert workshop.rows("SELECT original_text FROM documents") == [{"original_text": "\n".join(lines)}]


@pytest.mark.parametrize("times", [2, 5])
def test_duplicate_delivery_leaves_one_set_of_facts(workshop: Workshop, times: int) -> None:
    workshop.submit(*_THREE)
    workshop.wakeups.operations *= times

    workshop.deliver_all()

    assert len(workshop.texts()) == 3
    assert len(workshop.model.calls) == 3


def test_two_workers_on_one_message_leave_one_set_of_facts(workshop: Workshop) -> None:
    workshop.submit(*_THREE)
    ((tenant, operation, _),) = workshop.wakeups.operations
    workers = [workshop, *(workshop.open_twin() for _ in range(3))]

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda worker: worker.deliver(tenant, operation), workers))

    assert outcomes == [Outcome.DONE] * 4
    assert len(workshop.texts()) == 3
    assert len(workshop.model.calls) == 3


def test_the_same_operation_id_is_one_operation(workshop: Workshop) -> None:
    mine = uuid4()
    workers = [workshop, *(workshop.open_twin() for _ in range(4))]

    def send(worker: Workshop) -> RetainResult:
        return worker.submit(RetainItem("Once."), operation_id=mine)

    with ThreadPoolExecutor(5) as pool:
        results = list(pool.map(send, workers))
    workshop.deliver_all()

    assert {result.operation_id for result in results} == {OperationId(mine)}
    assert workshop.texts() == ["Once."]
    assert _statuses(workshop) == {"batch_retain": ["completed"], "retain": ["completed"]}
    assert workshop.submit(RetainItem("Once."), operation_id=mine).operation_id == mine
    assert workshop.wakeups.operations == []


def test_an_operation_id_of_another_bank_or_kind_is_a_conflict(workshop: Workshop) -> None:
    first = workshop.submit(RetainItem("x"), operation_id=uuid4())
    assert first.operation_id is not None
    child = workshop.wakeups.operations[0][1]

    with pytest.raises(Conflict, match="already in use"):
        workshop.submit(RetainItem("x"), bank="other", operation_id=first.operation_id)
    with pytest.raises(Conflict, match="already in use"):
        workshop.submit(RetainItem("x"), operation_id=child)
    assert [row["external_id"] for row in workshop.rows("SELECT external_id FROM banks")] == ["bank"]


def test_each_strategy_is_an_operation_of_its_own(workshop: Workshop) -> None:
    items = (RetainItem("a", document_id="a", strategy="s1"), RetainItem("b", document_id="b"))

    result = workshop.submit(*items)

    assert result.operation_ids is not None
    assert len(result.operation_ids) == 2
    with pytest.raises(InvalidRequest, match="several strategies"):
        workshop.submit(*items, operation_id=uuid4())


def test_equal_texts_on_purpose_are_two_retains(workshop: Workshop) -> None:
    for bank in ("x", "y", "y"):
        workshop.submit(RetainItem("The same."), bank=bank)

    workshop.deliver_all()

    assert workshop.texts() == ["The same."] * 3


def test_messages_hold_ids_only(workshop: Workshop) -> None:
    workshop.submit(RetainItem("x" * 300_000))

    (message,) = workshop.wakeups.operations
    assert all(isinstance(part, UUID | int) for part in message)


@pytest.mark.parametrize("body", ["", "{}", "[]", "not json", '{"tenant_id": "x", "operation_id": "y"}', "null"])
def test_a_message_that_names_nothing_is_parked(workshop: Workshop, body: str) -> None:
    assert ingest(workshop.ports, body, 60) is Outcome.GIVEN_UP


def test_a_message_for_what_is_gone_is_done_with(workshop: Workshop) -> None:
    workshop.submit(RetainItem("x"))
    ((tenant, operation, _),) = workshop.wakeups.operations
    workshop.change("DELETE FROM banks")

    assert workshop.deliver(tenant, operation) is Outcome.DONE
    assert workshop.deliver(tenant, OperationId(uuid4())) is Outcome.DONE
    assert workshop.rows("SELECT * FROM banks") == []


def test_a_cancelled_operation_is_not_done(workshop: Workshop) -> None:
    workshop.submit(RetainItem("x"))
    workshop.change("UPDATE operations SET status = 'cancelled' WHERE kind = 'retain'")

    workshop.deliver_all()

    assert workshop.texts() == []
    assert workshop.model.calls == []


def test_cancelling_in_the_middle_wins_over_the_work(workshop: Workshop) -> None:
    def cancelling(call: ModelCall) -> JsonObject:
        workshop.change("UPDATE operations SET status = 'cancelled' WHERE kind = 'retain'")
        return {"facts": []}

    workshop.model.script = cancelling
    workshop.submit(RetainItem("x"))

    workshop.deliver_all()

    assert workshop.texts() == []
    assert _statuses(workshop)["retain"] == ["cancelled"]


def test_an_unsent_wake_up_is_found_by_the_sweep(workshop: Workshop) -> None:
    workshop.submit(*_THREE)
    workshop.retain(RetainItem("Scoped.", tags=("a",)))
    workshop.wakeups.operations.clear()
    workshop.wakeups.scopes.clear()

    report = sweep_once(workshop.store, workshop.wakeups, workshop.settings)

    assert {kind: report.woken[kind] for kind in ("operation:retain", "consolidation")} == {
        "operation:retain": 1, "consolidation": 1,
    }  # fmt: skip
    workshop.deliver_all()
    assert len(workshop.texts()) == 4
    assert len(workshop.wakeups.scopes) >= 1
    assert sweep_once(workshop.store, workshop.wakeups, workshop.settings).woken.get("operation:retain") is None
