"""Messages, crashes and time running out: rows are the work, so it is done once, whole, and within its limits."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from functions.ingest import handler as door
from hindsight_aws.errors import InvalidRequest, ModelUnavailable
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.retain import RetainItem, points, run_retain, vectors
from tests.integration.operations.conftest import Desk
from tests.integration.retain.conftest import Workshop
from tests.support.deaths import Killed, Strike, striking
from tests.support.models import one_fact_per_line

_MODULES = ("commit", "retain", "submit", "run", "settle")


@pytest.fixture
def dies_at(monkeypatch: pytest.MonkeyPatch) -> Strike:
    return striking(monkeypatch, [sys.modules[f"hindsight_aws.retain.{name}"] for name in _MODULES])


def _submit(workshop: Workshop, *items: RetainItem, **fields: Any) -> tuple[UUID, Any]:
    """The parent, and the one message, taken away."""
    parent = workshop.submit(*items, **fields).operation_id
    assert parent is not None
    return parent, workshop.wakeups.operations.pop()


def _paid(workshop: Workshop) -> int:
    """How many extraction calls are in the ledger."""
    found = workshop.rows("SELECT count(*) AS n FROM usage_ledger WHERE task = 'extract_facts'")
    return int(found[0]["n"])


def test_r110_a_message_delivered_twice_at_once_writes_facts_links_and_usage_once(workshop: Workshop) -> None:
    _, (tenant, operation, _) = _submit(workshop, RetainItem("One.\nTwo.\nThree."))
    workers = [workshop, workshop.open_twin()]

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda worker: worker.deliver(tenant, operation), workers))

    assert outcomes == [Outcome.DONE, Outcome.DONE]
    assert workshop.texts() == ["One.", "Two.", "Three."]
    assert _paid(workshop) == len(workshop.model.calls) == 1
    pairs = "count(DISTINCT (least(from_unit, to_unit), greatest(from_unit, to_unit)))"
    assert workshop.rows(f"SELECT {pairs} AS n FROM memory_links WHERE link_type = 'temporal'") == [{"n": 3}]


def test_r111_of_a_batch_only_the_message_that_crashes_is_given_back(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        workshop.submit(RetainItem(f"Fact {number}."))
    bodies = [
        json.dumps({"tenant_id": str(tenant), "operation_id": str(operation)})
        for tenant, operation, _ in workshop.wakeups.operations
    ]

    def crashing(call: ModelCall) -> Any:
        if "Fact 3." in "".join(call.blocks):
            raise ZeroDivisionError
        return one_fact_per_line(call)

    workshop.model.script = crashing
    monkeypatch.setattr(door, "_runtime", _Runtime(workshop))
    records = [_record(f"message-{place}", body) for place, body in enumerate(bodies)]

    answer = door.handler({"Records": records}, _Context())  # type: ignore[arg-type]  # one method is asked

    assert answer == {"batchItemFailures": [{"itemIdentifier": "message-3"}]}
    assert len(workshop.texts()) == 9


class _Runtime:
    """What the door finds in place of the process's own parts."""

    def __init__(self, workshop: Workshop) -> None:
        self.retain_ports = workshop.ports
        self.settings = workshop.settings


class _Context:
    """A function with five minutes left."""

    def get_remaining_time_in_millis(self) -> int:
        return 300_000


def _record(message_id: str, body: str) -> dict[str, Any]:
    return {
        "messageId": message_id,
        "receiptHandle": "handle",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "0",
            "SenderId": "x",
            "ApproximateFirstReceiveTimestamp": "0",
        },
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:000000000000:ingest",
        "awsRegion": "eu-central-1",
    }


@pytest.mark.parametrize(
    "point", [points.BEFORE_COMMIT, points.AFTER_COMMIT, points.BEFORE_WAKEUP], ids=["before", "after", "unsent"]
)
def test_r112_a_worker_killed_around_its_commit_leaves_everything_once(
    workshop: Workshop, desk: Desk, dies_at: Strike, point: str
) -> None:
    parent, (tenant, operation, _) = _submit(workshop, RetainItem("One.\nTwo.", tags=("a",)))
    dies_at(point)
    with pytest.raises(Killed):
        workshop.deliver(tenant, operation)
    desk.let_time_pass()

    assert workshop.deliver(tenant, operation) is Outcome.DONE
    desk.sweep()

    assert workshop.texts() == ["One.", "Two."]
    assert _paid(workshop) == len(workshop.model.calls) == 1
    assert workshop.rows("SELECT count(*) AS n FROM consolidation_work") == [{"n": 2}]
    assert len({scope for _, _, scope in workshop.wakeups.scopes}) == 1
    seen = desk.view(parent)
    assert seen.status == "completed"
    assert seen.result["usage"] == {
        "input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "cached_tokens": 0, "thoughts_tokens": 0,
    }  # fmt: skip


@pytest.mark.parametrize("size", [300_000, 4_900_000], ids=["300-KB", "5-MB"])
def test_r113_no_message_holds_a_body(workshop: Workshop, size: int) -> None:
    _, message = _submit(workshop, RetainItem("x" * size))

    assert all(isinstance(part, UUID | int) for part in message)


@pytest.mark.parametrize(
    "loss",
    ["DELETE FROM operations", "DELETE FROM banks", "UPDATE operations SET payload = '{}' WHERE kind = 'retain'"],
    ids=["row", "bank", "body"],
)
def test_r114_a_wake_up_for_what_is_gone_is_consumed_without_a_storm(
    workshop: Workshop, caplog: pytest.LogCaptureFixture, loss: str
) -> None:
    _, (tenant, operation, _) = _submit(workshop, RetainItem("x"))
    workshop.change(loss)

    with caplog.at_level("INFO"):
        outcome = workshop.deliver(tenant, operation)

    assert outcome is Outcome.DONE
    assert workshop.wakeups.operations == []
    assert str(operation) in caplog.text


def test_r115_when_time_runs_out_what_is_done_is_kept_and_a_continuation_sent(
    workshop: Workshop, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.configure(hindsight_api_retain_parallelism=1)
    chunks = "\n\n".join("w " * 1_400 + f"{number}." for number in range(6))

    clock = SimpleNamespace(monotonic=time.monotonic)
    monkeypatch.setattr(sys.modules["hindsight_aws.retain.extraction.extract_all"], "time", clock)

    def until_it_is_late(call: ModelCall) -> Any:
        if len(workshop.model.calls) == 3:
            clock.monotonic = lambda: time.monotonic() + 60
        return one_fact_per_line(call)

    workshop.model.script = until_it_is_late
    parent, (tenant, operation, _) = _submit(workshop, RetainItem(chunks))

    outcome = workshop.deliver(tenant, operation, seconds=60)
    begun, progress = len(workshop.model.calls), desk.view(operation).progress
    clock.monotonic = time.monotonic

    assert outcome is Outcome.DONE
    assert begun == 3
    assert workshop.texts() == []
    assert workshop.wakeups.operations == [(tenant, operation, 0)]
    assert progress is not None
    assert (progress["stage"], progress["processed"], progress["total"]) == ("extracting", begun, 6)
    workshop.model.script = one_fact_per_line
    workshop.deliver_all()
    assert len(workshop.model.calls) == _paid(workshop) == 6
    assert desk.view(parent).status == "completed"
    assert desk.view(operation).retries == 0


def test_r115_vectors_of_a_giant_text_are_made_once_over_as_many_invocations_as_it_takes(
    workshop: Workshop, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SLICE", 10)
    workshop.has_model = False
    text = "\n\n".join(f"Line {number} says ".ljust(2_900, "x") + "." for number in range(25))
    parent, (tenant, operation, _) = _submit(workshop, RetainItem(text, document_id="giant"))
    seen: list[Any] = []

    while desk.view(parent).status == "pending":
        run_retain(workshop.ports, tenant, operation, seconds=0.0)
        seen.append(desk.view(operation).progress)

    assert [(each["stage"], each["processed"], each["total"]) for each in seen] == [
        ("embedding", 10, 25), ("embedding", 20, 25), ("completed", 25, 25),
    ]  # fmt: skip
    assert len(workshop.embedder.texts) == len(set(workshop.embedder.texts)) == len(workshop.texts()) == 25
    assert workshop.rows("SELECT count(*) AS n FROM kept_extractions") == [{"n": 0}]
    assert desk.view(operation).retries == 0
    near = "SELECT count(*) AS n FROM memory_units WHERE embedding IS NULL"
    assert workshop.rows(near) == [{"n": 0}]


@pytest.mark.parametrize("is_sync", [True, False], ids=["sync", "async"])
def test_r119_a_bank_deleted_meanwhile_stays_gone(workshop: Workshop, is_sync: bool) -> None:
    def deleting(call: ModelCall) -> Any:
        workshop.change("DELETE FROM banks")
        return one_fact_per_line(call)

    workshop.model.script = deleting
    if is_sync:
        with pytest.raises(InvalidRequest, match="its bank deleted"):
            workshop.retain(RetainItem("x", document_id="d"))
    else:
        workshop.submit(RetainItem("x", document_id="d"))
        workshop.deliver_all()

    for table in ("banks", "operations", "documents", "memory_units", "kept_extractions", "entities", "scopes"):
        assert workshop.rows(f"SELECT * FROM {table}") == [], table
    assert _paid(workshop) == 1


@pytest.mark.parametrize("point", [points.AFTER_SUBMIT, points.BEFORE_WAKEUP], ids=["operation", "scopes"])
def test_r121_what_was_committed_and_never_sent_is_sent_by_the_sweep(
    workshop: Workshop, desk: Desk, dies_at: Strike, point: str
) -> None:
    mine = uuid4()
    dies_at(point)

    def sender() -> None:
        workshop.submit(RetainItem("Not lost.", tags=("a",)), operation_id=mine)
        workshop.deliver_all()

    with pytest.raises(Killed):
        sender()
    workshop.wakeups.operations.clear()
    workshop.wakeups.scopes.clear()

    for _ in range(2):
        desk.sweep()
        workshop.deliver_all()

    assert workshop.texts() == ["Not lost."]
    assert len({scope for _, _, scope in workshop.wakeups.scopes}) == 1
    assert desk.view(mine).status == "completed"
    again = workshop.submit(RetainItem("Not lost."), operation_id=mine)
    assert again.operation_id == mine
    workshop.deliver_all()
    assert workshop.texts() == ["Not lost."]


def test_r106_a_sync_batch_folds_what_shares_an_id_and_an_async_one_is_refused(workshop: Workshop) -> None:
    pair = (RetainItem("First.", document_id="d"), RetainItem("Second.", document_id="d"))

    result = workshop.retain(*pair)
    with pytest.raises(InvalidRequest, match=r"items\[1\]\.document_id: 'd' occurs twice"):
        workshop.submit(*pair)

    assert workshop.texts() == ["First.", "Second."]
    assert result.items is not None
    assert [(item.document_id, item.memories_count) for item in result.items] == [("d", 1), ("d", 1)]
    assert len(workshop.rows("SELECT document_id FROM documents")) == 1


@pytest.mark.parametrize("is_named", [False, True], ids=["without-ids", "one-with"])
def test_r107_two_hundred_items_are_grouped_and_each_is_told_its_own(workshop: Workshop, is_named: bool) -> None:
    items = [RetainItem(f"Fact {number}.") for number in range(200)]
    if is_named:
        items[7] = RetainItem("Fact 7.", document_id="seven")

    result = workshop.retain(*items)

    assert result.items is not None
    assert [item.index for item in result.items] == list(range(200))
    ids = [memory_id for item in result.items for memory_id in item.memory_ids or ()]
    rows = workshop.rows("SELECT u.id, u.text, d.external_id FROM memory_units u JOIN documents d USING (document_id)")
    stored = {str(row["id"]): (row["text"], row["external_id"]) for row in rows}
    documents = [item.document_id for item in result.items]
    assert [stored[each] for each in ids] == [(f"Fact {n}.", documents[n]) for n in range(200)]
    assert len(set(documents)) == (200 if is_named else 1)


def test_progress_is_told_as_chunks_come_in(workshop: Workshop, desk: Desk) -> None:
    workshop.configure(hindsight_api_retain_parallelism=1)
    lines = "\n\n".join("w " * 1_400 + f"{number}." for number in range(40))
    parent, (tenant, operation, _) = _submit(workshop, RetainItem(lines))
    seen: list[Any] = []
    of_open_parent: list[Any] = []

    def watching(call: ModelCall) -> Any:
        if len(workshop.model.calls) in (20, 36):
            (row,) = workshop.rows("SELECT progress FROM operations WHERE operation_id = %s", operation)
            seen.append(row["progress"])
            of_open_parent.append(desk.view(parent).progress)
        return one_fact_per_line(call)

    workshop.model.script = watching
    workshop.deliver(tenant, operation)

    assert [(each["stage"], each["processed"], each["total"]) for each in seen] == [
        ("extracting", 16, 40), ("extracting", 32, 40),
    ]  # fmt: skip
    assert seen[1]["detail"]["facts_found"] == 32
    ended = desk.view(operation).progress
    assert ended is not None
    assert (ended["stage"], ended["processed"], ended["total"]) == ("completed", 40, 40)
    of_parent = desk.view(parent).progress
    assert of_parent is not None
    assert (of_parent["stage"], of_parent["processed"], of_parent["total"]) == ("completed", 1, 1)
    assert of_open_parent == seen


def test_the_tokens_of_failed_attempts_are_in_the_outcome(workshop: Workshop, desk: Desk) -> None:
    workshop.configure(hindsight_api_retain_parallelism=1)
    chunks = "\n\n".join("w " * 1_400 + f"{number}." for number in range(2))
    answers: list[Any] = [one_fact_per_line, ModelUnavailable("gone"), ModelUnavailable("gone"), one_fact_per_line]

    def script(call: ModelCall) -> Any:
        answer = answers.pop(0)
        return answer(call) if callable(answer) else answer

    workshop.model.script = script
    parent, (tenant, operation, _) = _submit(workshop, RetainItem(chunks))
    for _ in range(3):
        workshop.deliver(tenant, operation)
        desk.let_time_pass()

    for each in (operation, parent):
        seen = desk.view(each)
        assert seen.status == "completed"
        assert seen.result["usage"]["total_tokens"] == 4 * 120  # type: ignore[index]  # the result is JSON


def test_the_outcome_of_a_failure_says_what_it_cost(workshop: Workshop, desk: Desk) -> None:
    workshop.configure(hindsight_api_retain_max_attempts=1, hindsight_retain_max_revivals=0)
    workshop.model.script = lambda _call: ModelUnavailable("gone")
    parent, (tenant, operation, _) = _submit(workshop, RetainItem("x"))

    ingest(workshop.ports, f'{{"tenant_id": "{tenant}", "operation_id": "{operation}"}}', 60.0)

    for each in (operation, parent):
        assert desk.view(each).result["usage"]["total_tokens"] == 120  # type: ignore[index]  # the result is JSON


def test_who_waits_behind_work_that_cannot_be_read_is_woken(workshop: Workshop) -> None:
    for text in ("One.", "Two."):
        workshop.submit(RetainItem(text, document_id="d"))
    first, second = (woken for _, woken, _ in workshop.wakeups.operations)
    workshop.change("UPDATE operations SET payload = '{}' WHERE operation_id = %s", first)
    workshop.wakeups.operations.clear()

    workshop.deliver(workshop.tenant, first)

    assert [woken for _, woken, _ in workshop.wakeups.operations] == [second]
    workshop.deliver_all()
    assert workshop.texts() == ["Two."]
