"""Records of operations: removed on demand, and by the sweep once they are old."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.errors import Conflict
from hindsight_aws.retain import RetainItem
from tests.integration.operations.conftest import Desk
from tests.integration.retain.conftest import Workshop


def test_the_record_of_what_has_ended_is_removed_with_its_children_and_the_facts_stay(
    workshop: Workshop, desk: Desk
) -> None:
    parent = workshop.submit(RetainItem("Stays.")).operation_id
    assert parent is not None
    workshop.deliver_all()

    desk.remove(parent)

    assert desk.statuses() == {}
    assert workshop.texts() == ["Stays."]


def test_what_has_not_ended_keeps_its_record(workshop: Workshop, desk: Desk) -> None:
    parent = workshop.submit(RetainItem("x")).operation_id
    assert parent is not None

    for operation_id in (parent, *desk.children(parent)):
        with pytest.raises(Conflict, match="only one that has ended"):
            desk.remove(operation_id)

    assert desk.statuses() == {"batch_retain": ["pending"], "retain": ["pending"]}


def test_an_id_whose_record_is_gone_is_free_again(workshop: Workshop, desk: Desk) -> None:
    mine = uuid4()
    workshop.submit(RetainItem("Once."), operation_id=mine)
    workshop.deliver_all()
    desk.remove(mine)

    workshop.submit(RetainItem("Twice."), operation_id=mine)
    workshop.deliver_all()

    assert workshop.texts() == ["Once.", "Twice."]


def test_the_sweep_removes_records_that_ended_long_ago_and_no_others(workshop: Workshop, desk: Desk) -> None:
    workshop.configure(hindsight_api_operation_retention_days=30)
    old, new, waiting = (workshop.submit(RetainItem(text)).operation_id for text in ("Old.", "New.", "Waiting."))
    for _ in range(2):
        tenant, operation, _delay = workshop.wakeups.operations.pop(0)
        workshop.deliver(tenant, operation)
    workshop.change(
        "UPDATE operations SET completed_at = completed_at - interval '31 days' "
        "WHERE operation_id = %s OR parent_id = %s", old, old,
    )  # fmt: skip

    report = desk.sweep()

    assert report.woken["expired"] == 1
    left = {row["operation_id"] for row in workshop.rows("SELECT operation_id FROM operations WHERE parent_id IS NULL")}
    assert left == {new, waiting}
    assert len(desk.statuses()["retain"]) == 2
    assert sorted(workshop.texts()) == ["New.", "Old."]
    assert "expired" not in desk.sweep().woken


def test_records_are_kept_for_ever_unless_somebody_says_how_long(workshop: Workshop, desk: Desk) -> None:
    workshop.submit(RetainItem("Old."))
    workshop.deliver_all()
    workshop.change("UPDATE operations SET completed_at = completed_at - interval '9 years'")

    assert "expired" not in desk.sweep().woken
    assert desk.statuses() == {"batch_retain": ["completed"], "retain": ["completed"]}
