"""Retrying: as if new, what was paid for is kept, and of a parent only what did not come out well."""

from __future__ import annotations

import pytest

from hindsight_aws.errors import Conflict, ModelRefused, ModelThrottled
from hindsight_aws.retain import RetainItem
from tests.integration.operations.conftest import Desk
from tests.integration.retain.conftest import Workshop
from tests.support.models import one_fact_per_line

_THREE = tuple(RetainItem(f"Fact {number}.", document_id=f"d{number}") for number in range(3))


def test_a_failed_operation_is_done_after_all_and_its_parent_completes(workshop: Workshop, desk: Desk) -> None:
    workshop.model.script = lambda _call: ModelRefused("not this")
    parent = workshop.submit(RetainItem("At last.")).operation_id
    assert parent is not None
    workshop.deliver_all()
    assert desk.statuses() == {"batch_retain": ["failed"], "retain": ["failed"]}
    workshop.model.script = one_fact_per_line

    desk.retry(parent)

    seen = desk.view(parent)
    assert (seen.status, seen.error_message, seen.completed_at) == ("pending", None, None)
    workshop.deliver_all()
    assert workshop.texts() == ["At last."]
    assert desk.statuses() == {"batch_retain": ["completed"], "retain": ["completed"]}


def test_of_a_parent_only_the_children_that_failed_or_were_cancelled_run_again(workshop: Workshop, desk: Desk) -> None:
    workshop.configure(hindsight_api_retain_batch_tokens=1)
    parent = workshop.submit(*_THREE).operation_id
    assert parent is not None
    children = desk.children(parent)
    workshop.deliver(workshop.tenant, workshop.wakeups.operations[0][1])
    desk.cancel(children[1])
    workshop.change(
        "UPDATE operations SET status = 'failed', completed_at = now() WHERE operation_id = %s", children[2]
    )
    workshop.wakeups.operations.clear()
    calls = len(workshop.model.calls)

    desk.retry(parent)

    assert sorted(woken for _, woken, _ in workshop.wakeups.operations) == sorted(children[1:])
    workshop.deliver_all()
    assert desk.statuses() == {"batch_retain": ["completed"], "retain": ["completed"] * 3}
    assert len(workshop.texts()) == 3
    assert len(workshop.model.calls) > calls


def test_a_child_that_is_retried_opens_its_parent_again(workshop: Workshop, desk: Desk) -> None:
    parent = workshop.submit(RetainItem("x")).operation_id
    assert parent is not None
    (child,) = desk.children(parent)
    desk.cancel(child)
    assert desk.view(parent).status == "cancelled"

    desk.retry(child)

    assert desk.view(parent).status == "pending"
    workshop.deliver_all()
    assert desk.view(parent).status == "completed"


def test_a_deferred_operation_need_not_wait(workshop: Workshop, desk: Desk) -> None:
    answers = [ModelThrottled("slow down")]
    workshop.model.script = lambda call: answers.pop() if answers else one_fact_per_line(call)
    parent = workshop.submit(RetainItem("Now.")).operation_id
    (child,) = desk.children(parent)
    workshop.deliver(workshop.tenant, workshop.wakeups.operations.pop()[1])
    assert desk.view(child).next_retry_at is not None
    workshop.wakeups.operations.clear()

    desk.retry(child)

    assert desk.view(child).next_retry_at is None
    workshop.deliver_all()
    assert workshop.texts() == ["Now."]


@pytest.mark.parametrize("is_done", [False, True], ids=["pending", "completed"])
def test_there_is_nothing_to_retry_while_it_is_due_or_done(workshop: Workshop, desk: Desk, is_done: bool) -> None:
    parent = workshop.submit(RetainItem("x")).operation_id
    assert parent is not None
    if is_done:
        workshop.deliver_all()

    for operation_id in (parent, *desk.children(parent)):
        with pytest.raises(Conflict, match="cannot be retried"):
            desk.retry(operation_id)


def test_a_worker_of_before_the_cancelling_cannot_commit_after_the_retry(workshop: Workshop, desk: Desk) -> None:
    parent = workshop.submit(RetainItem("Once.")).operation_id
    assert parent is not None

    def meddle() -> None:
        other = Desk(workshop.open_twin())
        other.cancel(parent)
        other.retry(parent)

    workshop.model.script = desk.after(1, meddle)
    tenant, child, _ = workshop.wakeups.operations.pop()

    workshop.deliver(tenant, child)

    assert workshop.texts() == []
    assert desk.statuses()["retain"] == ["pending"]
    workshop.deliver_all()
    assert workshop.texts() == ["Once."]


def test_a_failed_consolidation_is_retried_with_its_failed_facts(workshop: Workshop, desk: Desk) -> None:
    workshop.retain(RetainItem("Kim likes tea."))
    workshop.change("UPDATE consolidation_work SET state = 'failed', failed_at = now()")
    workshop.change(
        "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, completed_at) "
        "SELECT tenant_id, bank_id, gen_random_uuid(), 'consolidation', 'failed', 'tester', now() FROM banks"
    )
    (row,) = workshop.rows("SELECT operation_id FROM operations WHERE kind = 'consolidation'")
    workshop.wakeups.scopes.clear()

    desk.retry(row["operation_id"])

    assert [each["state"] for each in workshop.rows("SELECT state FROM consolidation_work")] == ["pending"]
    assert len(workshop.wakeups.scopes) == 1


def test_a_consolidation_of_some_scopes_is_retried_in_those_alone(workshop: Workshop, desk: Desk) -> None:
    workshop.retain(RetainItem("Kim likes tea.", tags=("a",)), RetainItem("Bob swims.", tags=("b",)))
    workshop.change("UPDATE consolidation_work SET state = 'failed', failed_at = now()")
    workshop.change(
        "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, completed_at, payload) "
        "SELECT tenant_id, bank_id, gen_random_uuid(), 'consolidation', 'failed', 'tester', now(), "
        "jsonb_build_object('scope_ids', jsonb_build_array(scope_id)) FROM scopes WHERE tags = '{a}'"
    )
    (row,) = workshop.rows("SELECT operation_id FROM operations WHERE kind = 'consolidation'")
    workshop.wakeups.scopes.clear()

    desk.retry(row["operation_id"])

    work = workshop.rows(
        "SELECT s.tags, w.state, w.requested FROM consolidation_work w JOIN scopes s USING (scope_id) ORDER BY s.tags"
    )
    assert work == [
        {"tags": ["a"], "state": "pending", "requested": True},
        {"tags": ["b"], "state": "failed", "requested": False},
    ]
    (woken,) = workshop.wakeups.scopes
    assert workshop.rows(f"SELECT tags FROM scopes WHERE scope_id = '{woken[2]}'") == [{"tags": ["a"]}]


def test_a_rebuild_is_asked_for_anew_and_never_told_as_done_by_a_retry(workshop: Workshop, desk: Desk) -> None:
    workshop.retain(RetainItem("Kim likes tea."))
    workshop.change(
        "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, completed_at) "
        "SELECT tenant_id, bank_id, gen_random_uuid(), 'policy_rebuild', 'failed', 'tester', now() FROM banks"
    )
    (row,) = workshop.rows("SELECT operation_id FROM operations WHERE kind = 'policy_rebuild'")

    with pytest.raises(Conflict, match="ask for the rebuild again"):
        desk.retry(row["operation_id"])

    assert desk.view(row["operation_id"]).status == "failed"
