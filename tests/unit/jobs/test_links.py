"""What becomes of a message about links when the rows cannot be reached."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, DatabaseUnavailable, HindsightError, WorkRaced
from hindsight_aws.jobs.links import is_about_links, tend_links
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.links.ports import LinkPorts
from hindsight_aws.settings import Settings
from tests.support.broken_store import BrokenStore
from tests.support.models import NotedWakeups

TENANT, BANK = uuid4(), uuid4()
BODY = json.dumps({"kind": "links", "tenant_id": str(TENANT), "bank_id": str(BANK)})


def _ports(error: HindsightError, wakeups: NotedWakeups) -> LinkPorts:
    return LinkPorts(BrokenStore(error), wakeups, Settings())  # type: ignore[arg-type]  # one method is asked


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("gone"), DatabaseTooSlow("slow"), WorkRaced("raced")], ids=lambda e: type(e).__name__
)
def test_a_fault_that_passes_costs_a_delayed_wake_up_and_no_receive(error: HindsightError) -> None:
    wakeups = NotedWakeups()

    outcome = tend_links(_ports(error, wakeups), BODY, lambda: 300.0)

    assert outcome is Outcome.DONE
    assert wakeups.links == [(TENANT, BANK, 60)]


def test_a_fault_that_stays_is_given_up_without_a_wake_up() -> None:
    wakeups = NotedWakeups()

    outcome = tend_links(_ports(DatabaseRefused("23514"), wakeups), BODY, lambda: 300.0)

    assert outcome is Outcome.GIVEN_UP
    assert wakeups.links == []


@pytest.mark.parametrize("body", ['{"kind": "links"}', '{"kind": "links", "tenant_id": "x", "bank_id": "y"}'])
def test_a_message_that_names_no_bank_is_dropped(body: str) -> None:
    assert tend_links(_ports(DatabaseUnavailable("gone"), NotedWakeups()), body, lambda: 300.0) is Outcome.GIVEN_UP


@pytest.mark.parametrize(
    ("body", "is_one"),
    [(BODY, True), ("", False), ("[]", False), ("null", False), ('{"operation_id": "x"}', False), ("{", False)],
)
def test_a_message_about_links_is_told_by_its_kind(body: str, is_one: bool) -> None:
    assert is_about_links(body) is is_one
