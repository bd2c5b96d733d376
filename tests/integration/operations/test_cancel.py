"""Cancelling: it sticks, it stops what has not begun, and it takes nothing back that was committed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID, uuid4

import pytest

from hindsight_aws.errors import AccessDenied, Conflict, NotFound
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagLeaf, TagsMatch
from hindsight_aws.retain import RetainItem
from tests.integration.operations.conftest import Desk
from tests.integration.retain.conftest import Workshop

_CHUNKS = "\n\n".join("w " * 1_400 + f"{number}." for number in range(6))
_THREE = tuple(RetainItem(f"Fact {number}.", document_id=f"d{number}") for number in range(3))


def _submit(workshop: Workshop, *items: RetainItem) -> UUID:
    """The parent of an async retain, a child for each item."""
    workshop.configure(hindsight_api_retain_batch_tokens=1)
    result = workshop.submit(*items)
    assert result.operation_id is not None
    return result.operation_id


def test_a_pending_operation_is_cancelled_and_never_begun(workshop: Workshop, desk: Desk) -> None:
    parent = _submit(workshop, RetainItem("x"))

    desk.cancel(parent)
    workshop.deliver_all()

    assert desk.statuses() == {"batch_retain": ["cancelled"], "retain": ["cancelled"]}
    assert workshop.model.calls == []
    assert desk.view(parent).completed_at is not None


def test_r116_cancelled_in_the_middle_it_sticks_and_no_further_chunk_is_asked_about(
    workshop: Workshop, desk: Desk
) -> None:
    workshop.configure(hindsight_api_retain_parallelism=1)
    parent = _submit(workshop, RetainItem(_CHUNKS))
    workshop.model.script = desk.after(2, lambda: Desk(workshop.open_twin()).cancel(parent))

    workshop.deliver_all()

    assert desk.statuses() == {"batch_retain": ["cancelled"], "retain": ["cancelled"]}
    assert len(workshop.model.calls) == 2
    assert workshop.texts() == []
    assert workshop.rows("SELECT count(*) AS n FROM usage_ledger WHERE task = 'extract_facts'") == [{"n": 2}]


def test_r116_work_that_finishes_nevertheless_does_not_count(workshop: Workshop, desk: Desk) -> None:
    parent = _submit(workshop, RetainItem("Once."))
    workshop.model.script = desk.after(1, lambda: Desk(workshop.open_twin()).cancel(parent))

    workshop.deliver_all()

    assert desk.statuses() == {"batch_retain": ["cancelled"], "retain": ["cancelled"]}
    assert workshop.texts() == []


def test_of_a_parent_only_what_is_open_is_cancelled_and_committed_facts_stay(workshop: Workshop, desk: Desk) -> None:
    parent = _submit(workshop, *_THREE)
    tenant, first, _ = workshop.wakeups.operations[0]
    workshop.deliver(tenant, first)
    before = workshop.texts()

    desk.cancel(parent)
    workshop.deliver_all()

    assert desk.statuses() == {"batch_retain": ["cancelled"], "retain": ["completed", "cancelled", "cancelled"]}
    assert workshop.texts() == before != []


def test_the_next_operation_on_the_document_is_woken(workshop: Workshop, desk: Desk) -> None:
    first = _submit(workshop, RetainItem("First.", document_id="d"))
    second = _submit(workshop, RetainItem("Second.", document_id="d"))
    workshop.wakeups.operations.clear()

    desk.cancel(first)

    assert [woken for _, woken, _ in workshop.wakeups.operations] == desk.children(second)
    workshop.deliver_all()
    assert workshop.texts() == ["Second."]


def test_what_has_ended_cannot_be_cancelled(workshop: Workshop, desk: Desk) -> None:
    parent = _submit(workshop, RetainItem("x"))
    workshop.deliver_all()

    with pytest.raises(Conflict, match="is completed and cannot be cancelled"):
        desk.cancel(parent)


@pytest.mark.parametrize("act", [Desk.cancel, Desk.retry, Desk.remove], ids=["cancel", "retry", "remove"])
def test_what_is_not_there_or_not_seen_is_not_found(
    workshop: Workshop, desk: Desk, act: Callable[[Desk, UUID, Principal, str], None]
) -> None:
    parent = _submit(workshop, RetainItem("x"))
    workshop.submit(RetainItem("x"), bank="other")
    tagged = Principal(workshop.tenant, "somebody", forced_tags=TagLeaf(frozenset({"a"}), TagsMatch.ANY_STRICT))
    mine = workshop.principal
    reader = Principal(workshop.tenant, "tester", permissions=frozenset({Permission.READ}))

    for operation_id, caller, bank in ((uuid4(), mine, "bank"), (parent, mine, "other"), (parent, tagged, "bank")):
        with pytest.raises(NotFound, match=f"Operation {operation_id} not found"):
            act(desk, operation_id, caller, bank)
    with pytest.raises(AccessDenied):
        act(desk, parent, reader, "bank")

    assert desk.statuses()["batch_retain"] == ["pending", "pending"]


def test_r118_a_failed_child_decides_over_a_cancelled_one(workshop: Workshop, desk: Desk) -> None:
    parent = _submit(workshop, *_THREE[:2])
    failing, cancelled = desk.children(parent)
    workshop.change(
        "UPDATE operations SET status = 'failed', error_message = 'no such luck', completed_at = now() "
        "WHERE operation_id = %s", failing,
    )  # fmt: skip

    desk.cancel(cancelled)

    seen = desk.view(parent)
    assert (seen.status, seen.error_message) == ("failed", "no such luck")


def test_r118_when_all_children_are_cancelled_so_is_the_parent(workshop: Workshop, desk: Desk) -> None:
    parent = _submit(workshop, *_THREE[:2])

    for child in desk.children(parent):
        desk.cancel(child)

    seen = desk.view(parent)
    assert (seen.status, seen.error_message) == ("cancelled", None)
    assert seen.children is not None
    assert [child.status for child in seen.children] == ["cancelled", "cancelled"]


def test_cancelling_operations_whose_documents_cross_takes_no_lock_out_of_order(workshop: Workshop, desk: Desk) -> None:
    """Ten callers cancel parents whose children hold documents, while workers lease others on the same documents."""
    names = [f"d{number}" for number in range(6)]
    parents = [
        _submit(workshop, *(RetainItem("x", document_id=name) for name in (names if turn % 2 else names[::-1])))
        for turn in range(10)
    ]
    messages = [operation for _, operation, _ in workshop.wakeups.operations]
    hands = [workshop.open_twin() for _ in range(4)]
    before = workshop.rows("SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()")

    def act(place: int) -> None:
        hand = hands[place % 4]
        for parent in parents[place % 2 :: 2] if place < 2 else ():
            with suppress(Conflict):
                Desk(hand).cancel(parent)
        for operation in messages[place::4] if place >= 2 else ():
            hand.deliver(workshop.tenant, operation)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(act, place) for place in range(4)]:
            done.result(60)

    deadlocks = workshop.rows("SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()")
    assert deadlocks == before
    workshop.deliver_all()
    assert set(desk.statuses()["batch_retain"]) <= {"cancelled", "completed"}
