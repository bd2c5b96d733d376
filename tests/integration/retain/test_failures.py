"""What fails, how it is told, and what is left: the database, the model, the process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelReplyMalformed,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.retain import RetainItem, points
from tests.integration.retain.conftest import Workshop
from tests.support.deaths import Killed, Strike, striking
from tests.support.models import block, fact, one_fact_per_line
from tests.support.sweeping import sweep_once

_MODULES = ("commit", "retain", "submit", "run", "settle")


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch) -> Strike:
    return striking(monkeypatch, [sys.modules[f"hindsight_aws.retain.{name}"] for name in _MODULES])


def _expire_leases(workshop: Workshop) -> None:
    workshop.change(
        "UPDATE operations SET lease_until = '-infinity', due_at = now() WHERE status IN ('pending', 'processing')"
    )
    workshop.change("UPDATE documents SET lease_until = '-infinity'")


def _failing(*errors: HindsightError) -> Callable[[ModelCall], Any]:
    left = list(errors)
    return lambda call: left.pop(0) if left else one_fact_per_line(call)


@pytest.mark.parametrize("named", [None, "d"], ids=["generated", "named"])
@pytest.mark.parametrize(
    "point",
    [points.AFTER_SUBMIT, points.AFTER_LEASE, points.AFTER_EXTRACT, points.AFTER_EMBED, points.BEFORE_COMMIT,
     points.AFTER_COMMIT, points.BEFORE_WAKEUP],
)  # fmt: skip
def test_a_process_killed_anywhere_leaves_work_that_is_done_once(
    workshop: Workshop, strike: Strike, point: str, named: str | None
) -> None:
    strike(point)
    with pytest.raises(Killed):
        workshop.retain(RetainItem("One.\nTwo.", document_id=named))
    _expire_leases(workshop)

    sweep_once(workshop.store, workshop.wakeups, workshop.settings)
    workshop.deliver_all()

    assert workshop.texts() == ["One.", "Two."]
    assert len(workshop.model.calls) == 1
    assert workshop.rows("SELECT status FROM operations") == [{"status": "completed"}]
    assert workshop.rows("SELECT count(*) AS n FROM consolidation_work") == [{"n": 2}]
    assert workshop.rows("SELECT sum(units) AS n FROM bank_counters") == [{"n": 2}]
    paid = "SELECT count(*) AS n FROM usage_ledger WHERE task = 'extract_facts'"
    assert workshop.rows(paid) == [{"n": 1}]


def test_a_worker_that_lost_its_lease_commits_nothing(workshop: Workshop, twin: Workshop) -> None:
    workshop.submit(RetainItem("Once."))
    ((tenant, operation, _),) = workshop.wakeups.operations

    def slow(call: ModelCall) -> Any:
        _expire_leases(workshop)
        workshop.model.script = one_fact_per_line
        twin.deliver(tenant, operation)
        return {"facts": [fact("By the slow one.")]}

    workshop.model.script = slow

    outcome = workshop.deliver(tenant, operation)

    assert outcome is Outcome.DONE
    assert workshop.texts() == ["Once."]
    paid = workshop.rows("SELECT count(*) AS n FROM usage_ledger WHERE task = 'extract_facts'")
    assert paid == [{"n": 2}]


def test_throttling_is_a_deferral_and_never_a_failure(workshop: Workshop) -> None:
    """[R064], [R066]."""
    workshop.configure(hindsight_api_retain_max_attempts=2)
    until = datetime.now(UTC) + timedelta(seconds=50)
    workshop.model.script = _failing(*[ModelThrottled("slow down", until)] * 4)
    workshop.submit(RetainItem("Late."))
    ((tenant, operation, _),) = workshop.wakeups.operations

    for _ in range(4):
        workshop.wakeups.operations.clear()
        assert workshop.deliver(tenant, operation) is Outcome.DONE
        ((_, _, delay),) = workshop.wakeups.operations
        assert 20 <= delay <= 50
        assert workshop.texts() == []
        _expire_leases(workshop)
    workshop.deliver(tenant, operation)

    assert workshop.texts() == ["Late."]
    (row,) = workshop.rows("SELECT attempts, status FROM operations WHERE kind = 'retain'")
    assert row == {"attempts": 1, "status": "completed"}
    ledger = workshop.rows(
        "SELECT status, count(*) AS n FROM usage_ledger WHERE task = 'extract_facts' GROUP BY 1 ORDER BY 1"
    )
    assert ledger == [{"status": "ok", "n": 1}, {"status": "throttled", "n": 4}]


def test_work_that_is_not_due_is_left_alone(workshop: Workshop) -> None:
    workshop.model.script = _failing(ModelThrottled("slow down"))
    workshop.submit(RetainItem("Late."))
    ((tenant, operation, _),) = workshop.wakeups.operations
    workshop.deliver(tenant, operation)

    assert workshop.deliver(tenant, operation) is Outcome.DONE

    assert len(workshop.model.calls) == 1


def test_a_provider_that_stays_down_ends_in_failure_after_the_attempts_allowed(workshop: Workshop) -> None:
    workshop.configure(hindsight_api_retain_max_attempts=3, hindsight_retain_max_revivals=0)
    workshop.model.script = lambda _call: ModelUnavailable("no answer")
    workshop.submit(RetainItem("Never."))
    ((tenant, operation, _),) = workshop.wakeups.operations

    outcomes = []
    for _ in range(3):
        outcomes.append(workshop.deliver(tenant, operation))
        _expire_leases(workshop)

    assert outcomes == [Outcome.DONE, Outcome.DONE, Outcome.GIVEN_UP]
    assert len(workshop.wakeups.operations) == 1 + 2
    (row,) = workshop.rows("SELECT status, error_message, error_kind, payload FROM operations WHERE kind = 'retain'")
    assert (row["status"], row["error_message"], row["error_kind"]) == ("failed", "no answer", "ModelUnavailable")
    assert row["payload"]["documents"][0]["parts"][0]["content"] == "Never."
    assert workshop.rows("SELECT status, error_message FROM operations WHERE kind = 'batch_retain'") == [
        {"status": "failed", "error_message": "no answer"}
    ]


def test_a_worker_that_keeps_dying_ends_in_failure(workshop: Workshop, strike: Strike) -> None:
    workshop.configure(hindsight_api_retain_max_attempts=2, hindsight_retain_max_revivals=0)
    workshop.submit(RetainItem("Deadly."))
    ((tenant, operation, _),) = workshop.wakeups.operations
    for _ in range(2):
        strike(points.AFTER_LEASE)
        with pytest.raises(Killed):
            workshop.deliver(tenant, operation)
        _expire_leases(workshop)

    workshop.deliver(tenant, operation)

    (row,) = workshop.rows("SELECT status, error_message FROM operations WHERE kind = 'retain'")
    assert row == {"status": "failed", "error_message": "gave up after 2 attempts that did not come to an end"}


@pytest.mark.parametrize(
    "error", [ModelRefused("not this"), ModelDenied("no access")], ids=["refused", "denied"]
)  # fmt: skip
def test_a_final_error_is_told_at_once_and_never_as_success(workshop: Workshop, error: HindsightError) -> None:
    """[R065], [R066]."""
    workshop.model.script = lambda _call: error

    with pytest.raises(type(error), match=r"items\[0\]\.content: "):
        workshop.retain(RetainItem("x"))

    assert len(workshop.model.calls) == 1
    assert workshop.rows("SELECT status FROM operations") == [{"status": "failed"}]
    assert workshop.rows("SELECT * FROM documents") == []
    assert len(workshop.rows("SELECT * FROM usage_ledger WHERE status <> 'ok'")) == 1


def _poisoned(call: ModelCall) -> Any:
    text = str(block(call, "chunk")["text"])
    return ModelRefused("not this") if "poison" in text else one_fact_per_line(call)


def test_a_poison_item_is_named_and_the_others_are_stored(workshop: Workshop) -> None:
    workshop.model.script = _poisoned
    items = [RetainItem("Good 0."), RetainItem("poison"), RetainItem("Good 2.")]

    with pytest.raises(ModelRefused, match=r"items\[1\]\.content: not this; the other items are stored"):
        workshop.retain(*items)

    assert workshop.texts() == ["Good 0.", "Good 2."]
    (row,) = workshop.rows("SELECT status, payload, result FROM operations")
    assert row["status"] == "failed"
    assert [part["content"] for part in row["payload"]["documents"][0]["parts"]] == ["poison"]
    assert row["result"]["unit_ids_count"] == 2


def test_of_two_hundred_items_one_poison_item_is_named_and_the_others_are_stored(workshop: Workshop) -> None:
    workshop.model.script = _poisoned
    items = [RetainItem("poison" if place == 137 else f"Good {place}.") for place in range(200)]

    with pytest.raises(ModelRefused, match=r"^items\[137\]\.content: not this; the other items are stored$"):
        workshop.retain(*items)

    assert sorted(workshop.texts()) == sorted(f"Good {place}." for place in range(200) if place != 137)


def test_a_failed_rest_that_is_tried_again_is_added_to_what_is_stored(workshop: Workshop) -> None:
    workshop.model.script = _poisoned
    with pytest.raises(ModelRefused):
        workshop.retain(RetainItem("Good 0."), RetainItem("poison"), RetainItem("Good 2."))
    workshop.model.script = one_fact_per_line
    workshop.change("UPDATE operations SET status = 'pending', attempts = 0, due_at = now()")

    sweep_once(workshop.store, workshop.wakeups, workshop.settings)
    workshop.deliver_all()

    assert sorted(workshop.texts()) == ["Good 0.", "Good 2.", "poison"]
    assert len(workshop.rows("SELECT document_id FROM documents")) == 1


def test_a_document_with_one_refused_chunk_keeps_its_former_version(workshop: Workshop) -> None:
    """[R065]."""
    workshop.retain(RetainItem("Former.", document_id="d"))
    workshop.model.script = _poisoned
    chunks = "\n\n".join(["w " * 1_400 + "one.", "poison " * 400, "v " * 1_400 + "three."])

    with pytest.raises(ModelRefused, match=r"items\[0\]\.content"):
        workshop.retain(RetainItem(chunks, document_id="d"), RetainItem("Other.", document_id="e"))

    assert sorted(workshop.texts()) == ["Former.", "Other."]


@pytest.mark.parametrize(
    "error", [ModelReplyTruncated("cut"), ModelInputTooLong("long")], ids=["truncated", "too-long"]
)
def test_what_is_too_much_for_one_call_is_split_and_nothing_is_dropped(
    workshop: Workshop, error: HindsightError
) -> None:
    lines = [f"Line {number} of the text." for number in range(100)]
    workshop.model.script = lambda call: (
        error if len(str(block(call, "chunk")["text"])) > 700 else one_fact_per_line(call)
    )

    workshop.retain(RetainItem("\n".join(lines)))

    assert workshop.texts() == lines
    sent = [(call.system, call.blocks) for call in workshop.model.calls]
    assert len(set(sent)) == len(sent)


def test_what_cannot_be_split_further_is_kept_as_it_stands_and_reported(workshop: Workshop) -> None:
    """[R049]."""
    workshop.model.script = lambda _call: ModelReplyTruncated("cut")

    workshop.retain(RetainItem("word " * 90))

    assert len(workshop.model.calls) <= 5
    assert "".join(workshop.texts()).replace(" ", "") == "word" * 90
    (row,) = workshop.rows("SELECT status, result FROM operations")
    assert row["status"] == "completed"
    assert row["result"]["extraction_errors_count"] == len(workshop.texts())


def test_an_unreadable_reply_is_asked_for_once_more_with_what_was_wrong(workshop: Workshop) -> None:
    """[R041]."""
    replies: list[Any] = [{"facts": [{"statement": "x"}]}, {"facts": [fact("Read.")]}]
    workshop.model.script = lambda _call: replies.pop(0)

    workshop.retain(RetainItem("x"))

    assert workshop.texts() == ["Read."]
    assert "statement" in str(block(workshop.model.calls[1], "problem")["reason"])


def test_a_reply_that_stays_unreadable_fails_and_is_never_an_empty_success(workshop: Workshop) -> None:
    """[R040]."""
    workshop.model.script = lambda _call: {"result": {"facts": []}}

    with pytest.raises(ModelReplyMalformed):
        workshop.retain(RetainItem("x"))

    assert len(workshop.model.calls) == 2
    assert workshop.rows("SELECT status FROM operations") == [{"status": "failed"}]


def test_a_fact_that_was_lost_is_counted(workshop: Workshop) -> None:
    """[R042]."""
    facts: Any = [fact(f"Fact {number}.") for number in range(9)]
    workshop.model.script = lambda _call: {"facts": [*facts, {"what": 5}]}

    workshop.retain(RetainItem("x"))

    (row,) = workshop.rows("SELECT result FROM operations")
    assert row["result"]["extraction_errors_count"] == 1
    assert row["result"]["extraction_errors"] == ["facts[9] has a `what` that is not text"]
    assert row["result"]["unit_ids_count"] == 9


def test_no_facts_is_a_success_with_a_document(workshop: Workshop) -> None:
    """[R038]."""
    workshop.model.script = lambda _call: {"facts": []}

    result = workshop.retain(RetainItem("Hello.", document_id="d"))

    assert not result.is_async
    assert workshop.rows("SELECT is_pending, original_text FROM documents") == [
        {"is_pending": False, "original_text": "Hello."}
    ]


def test_extractions_survive_a_failure_further_on(workshop: Workshop) -> None:
    workshop.embedder.failures = [ModelUnavailable("no vectors")]
    workshop.submit(RetainItem("One.\nTwo."))
    ((tenant, operation, _),) = workshop.wakeups.operations
    workshop.deliver(tenant, operation)
    _expire_leases(workshop)

    workshop.deliver(tenant, operation)

    assert workshop.texts() == ["One.", "Two."]
    assert len(workshop.model.calls) == 1


def test_a_sync_retain_that_runs_out_of_time_goes_on_behind_an_operation(workshop: Workshop) -> None:
    chunks = "\n\n".join("w " * 1_400 + f"{number}." for number in range(6))
    workshop.configure(hindsight_api_retain_parallelism=1, hindsight_retain_sync_seconds=0.2)
    slow = iter([0.15] * 2)

    def lagging(call: ModelCall) -> Any:
        import time

        time.sleep(next(slow, 0))
        return one_fact_per_line(call)

    workshop.model.script = lagging

    result = workshop.retain(RetainItem(chunks))

    assert result.is_async
    assert [operation for _, operation, _ in workshop.wakeups.operations] == [result.operation_id]
    assert workshop.texts() == []
    workshop.deliver_all()
    assert len(workshop.texts()) == 6
    assert len(workshop.model.calls) == 6


def test_a_sync_retain_that_is_throttled_goes_on_behind_an_operation(workshop: Workshop) -> None:
    workshop.model.script = _failing(ModelThrottled("slow down"))

    result = workshop.retain(RetainItem("Later."))

    assert result.is_async
    _expire_leases(workshop)
    workshop.deliver_all()
    assert workshop.texts() == ["Later."]


def test_a_sync_retain_whose_database_breaks_goes_on_behind_an_operation(workshop: Workshop) -> None:
    def cutting(call: ModelCall) -> Any:
        workshop.change(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE usename = 'hindsight_write' AND datname = current_database()"
        )
        return one_fact_per_line(call)

    workshop.model.script = cutting

    result = workshop.retain(RetainItem("Saved."))
    workshop.model.script = one_fact_per_line
    workshop.deliver_all()

    assert not result.is_async
    assert workshop.texts() == ["Saved."]


def test_the_ledger_says_who_paid_for_what(workshop: Workshop) -> None:
    workshop.retain(RetainItem("One."))

    rows = workshop.rows(
        "SELECT task, subject, status, calls, model_id, bank_id, operation_id FROM usage_ledger ORDER BY task"
    )
    (operation,) = workshop.rows("SELECT operation_id, bank_id FROM operations")
    assert [(row["task"], row["subject"], row["status"], row["calls"]) for row in rows] == [
        ("embed", "tester", "ok", 1), ("extract_facts", "tester", "ok", 1),
    ]  # fmt: skip
    assert all(
        (row["operation_id"], row["bank_id"]) == (operation["operation_id"], operation["bank_id"]) for row in rows
    )
