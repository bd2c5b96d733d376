"""Work that an outage outlasted waits long and is tried again; it holds up nobody and overwrites nothing newer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from hindsight_aws.errors import ModelRefused, ModelThrottled, ModelUnavailable
from hindsight_aws.jobs.ingest import LAST_DELIVERY, ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.retain import RetainItem
from infra.topology import TOPOLOGY
from tests.integration.operations.conftest import Desk
from tests.integration.retain.conftest import Workshop
from tests.support.models import one_fact_per_line


def _submit(workshop: Workshop, text: str, **fields: str) -> tuple[UUID, UUID]:
    """An async retain of one item: the parent and its child, the wake-up taken away."""
    parent = workshop.submit(RetainItem(text, **fields)).operation_id  # type: ignore[arg-type]  # texts all
    assert parent is not None
    return parent, workshop.wakeups.operations.pop()[1]


def _exhaust(workshop: Workshop, desk: Desk, operation_id: UUID) -> None:
    """Delivers as often as one round of attempts allows."""
    for _ in range(workshop.settings.hindsight_api_retain_max_attempts):
        desk.let_time_pass()
        workshop.deliver(workshop.tenant, operation_id)  # type: ignore[arg-type]  # an operation's id
    workshop.wakeups.operations.clear()


@pytest.fixture
def down(workshop: Workshop) -> Workshop:
    """The workshop while the provider is away, with two attempts to a round and two rounds after the first."""
    workshop.configure(hindsight_api_retain_max_attempts=2, hindsight_retain_max_revivals=2)
    workshop.model.script = lambda _call: ModelUnavailable("no answer")
    return workshop


def test_an_outage_is_outlived_and_the_caller_never_hears_of_a_failure(down: Workshop, desk: Desk) -> None:
    parent, child = _submit(down, "Patience.")
    _exhaust(down, desk, child)
    seen = desk.view(child)

    assert (seen.status, seen.error_message, seen.retries) == ("pending", "no answer", 1)
    assert seen.next_retry_at is not None
    wait = seen.next_retry_at - datetime.now(UTC)
    assert timedelta(minutes=4) < wait <= timedelta(minutes=5)
    assert desk.view(parent).status == "pending"
    down.model.script = one_fact_per_line
    desk.let_time_pass()
    assert desk.sweep().woken["operation:retain"] == 1
    down.deliver_all()
    assert down.texts() == ["Patience."]
    assert desk.view(parent).status == "completed"


def test_each_wait_is_twice_the_last_and_after_the_last_round_it_fails(down: Workshop, desk: Desk) -> None:
    parent, child = _submit(down, "Never.")
    waits = []
    for _ in range(2):
        _exhaust(down, desk, child)
        next_try = desk.view(child).next_retry_at
        assert next_try is not None
        waits.append(round((next_try - datetime.now(UTC)).total_seconds() / 60))

    _exhaust(down, desk, child)

    assert waits == [5, 10]
    assert (desk.view(child).status, desk.view(child).error_message) == ("failed", "no answer")
    assert (desk.view(parent).status, desk.view(parent).error_message) == ("failed", "no answer")
    assert len(down.model.calls) == 6
    assert desk.sweep().woken == {}


def test_a_retry_begins_all_rounds_anew(down: Workshop, desk: Desk) -> None:
    parent, child = _submit(down, "Again.")
    for _ in range(3):
        _exhaust(down, desk, child)
    assert desk.view(child).status == "failed"

    desk.retry(parent)
    _exhaust(down, desk, child)

    assert desk.view(child).status == "pending"


def test_a_refusal_is_never_tried_again(down: Workshop, desk: Desk) -> None:
    down.model.script = lambda _call: ModelRefused("not this")
    _, child = _submit(down, "No.")

    down.deliver(down.tenant, child)  # type: ignore[arg-type]  # an operation's id

    assert desk.view(child).status == "failed"
    assert len(down.model.calls) == 1


def test_what_waits_long_lets_later_operations_on_its_document_go_first(down: Workshop, desk: Desk) -> None:
    _, old = _submit(down, "Old.", document_id="d", update_mode="append")
    new_parent, new = _submit(down, "New.", document_id="d", update_mode="append")
    down.deliver(down.tenant, new)  # type: ignore[arg-type]  # an operation's id
    assert down.model.calls == []

    for _ in range(2):
        desk.let_time_pass()
        down.wakeups.operations.clear()
        down.deliver(down.tenant, old)  # type: ignore[arg-type]  # an operation's id

    assert new in [woken for _, woken, _ in down.wakeups.operations]
    down.model.script = one_fact_per_line
    down.deliver_all()
    assert down.texts() == ["New."]
    assert desk.view(new_parent).status == "completed"


def test_a_revived_replacement_does_not_overwrite_what_was_written_meanwhile(down: Workshop, desk: Desk) -> None:
    _, old = _submit(down, "Old.", document_id="d")
    _exhaust(down, desk, old)
    down.model.script = one_fact_per_line
    down.retain(RetainItem("New.", document_id="d"))

    desk.let_time_pass()
    desk.sweep()
    down.deliver_all()

    seen = desk.view(old)
    assert seen.status == "completed"
    assert "superseded_by" in seen.result
    assert down.texts() == ["New."]


def test_a_revived_replacement_does_not_take_away_what_was_appended_meanwhile(down: Workshop, desk: Desk) -> None:
    _, old = _submit(down, "Old.", document_id="d")
    _exhaust(down, desk, old)
    down.model.script = one_fact_per_line
    down.retain(RetainItem("More.", document_id="d", update_mode="append"))

    desk.let_time_pass()
    desk.sweep()
    down.deliver_all()

    seen = desk.view(old)
    assert seen.status == "failed"
    assert seen.error_message == "overtaken: a later retain has added to document 'd' while this one waited"
    assert down.texts() == ["More."]


def test_a_revived_append_is_added_to_what_was_written_meanwhile(down: Workshop, desk: Desk) -> None:
    _, old = _submit(down, "Waited.", document_id="d", update_mode="append")
    _exhaust(down, desk, old)
    down.model.script = one_fact_per_line
    down.retain(RetainItem("Meanwhile.", document_id="d", update_mode="append"))

    desk.let_time_pass()
    desk.sweep()
    down.deliver_all()

    assert sorted(down.texts()) == ["Meanwhile.", "Waited."]
    assert desk.view(old).status == "completed"


def test_a_request_to_slow_down_shows_its_reset_time_however_far_off(workshop: Workshop, desk: Desk) -> None:
    until = datetime.now(UTC) + timedelta(hours=3)
    workshop.model.script = lambda _call: ModelThrottled("out of quota", until)
    _, child = _submit(workshop, "Later.")

    workshop.deliver(workshop.tenant, child)  # type: ignore[arg-type]  # an operation's id

    seen = desk.view(child)
    assert (seen.status, seen.retries, seen.error_message) == ("pending", 0, "out of quota")
    assert seen.next_retry_at is not None
    assert abs(seen.next_retry_at - until) < timedelta(minutes=1)


def test_r117_a_message_about_to_be_dead_ends_on_its_operation(workshop: Workshop, desk: Desk) -> None:
    workshop.configure(hindsight_retain_max_revivals=0)
    parent, child = _submit(workshop, "Deadly.")
    body = f'{{"tenant_id": "{workshop.tenant}", "operation_id": "{child}"}}'

    outcome = ingest(workshop.ports, body, 60.0, LAST_DELIVERY)

    assert outcome is Outcome.GIVEN_UP
    assert workshop.model.calls == []
    for operation_id in (child, parent):
        seen = desk.view(operation_id)
        assert (seen.status, seen.error_message) == ("failed", "workers died of it, in 4 deliveries of its message")


def test_r117_and_is_tried_again_later_as_crashes_may_pass(workshop: Workshop, desk: Desk) -> None:
    parent, child = _submit(workshop, "Deadly.")
    body = f'{{"tenant_id": "{workshop.tenant}", "operation_id": "{child}"}}'
    ingest(workshop.ports, body, 60.0, LAST_DELIVERY)
    workshop.wakeups.operations.clear()
    assert desk.view(child).next_retry_at is not None

    desk.let_time_pass()
    desk.sweep()
    workshop.deliver_all()

    assert desk.view(parent).status == "completed"
    assert workshop.texts() == ["Deadly."]


def test_r117_the_last_delivery_is_the_queues_own() -> None:
    assert TOPOLOGY.queue("ingest").max_receive_count == LAST_DELIVERY
