"""What becomes of a message about an erasure whose rows cannot be reached."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from hindsight_aws.erasure import ErasurePorts
from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, HindsightError
from hindsight_aws.jobs.erasures import carry_erasure_on, is_about_erasure
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.settings import Settings
from tests.support.broken_store import BrokenStore
from tests.support.models import NotedWakeups

TENANT, ERASURE = uuid4(), uuid4()
BODY = json.dumps({"kind": "erasure", "tenant_id": str(TENANT), "erasure_id": str(ERASURE)})


def _ports(error: HindsightError) -> tuple[ErasurePorts, NotedWakeups]:
    wakeups = NotedWakeups()
    return ErasurePorts(BrokenStore(error), wakeups, Settings()), wakeups  # type: ignore[arg-type]  # one method is asked


def test_a_fault_that_passes_costs_a_wake_up_after_the_lease_has_run_out() -> None:
    ports, wakeups = _ports(DatabaseTooSlow("slow"))

    assert carry_erasure_on(ports, BODY, 60.0) is Outcome.DONE
    assert wakeups.erasures == [(TENANT, ERASURE, 120)]


@pytest.mark.parametrize("body", [BODY, '{"kind": "erasure"}'], ids=["refused", "nameless"])
def test_what_cannot_be_done_is_given_up_without_a_wake_up(body: str) -> None:
    ports, wakeups = _ports(DatabaseRefused("23514"))

    assert carry_erasure_on(ports, body, 60.0) is Outcome.GIVEN_UP
    assert wakeups.erasures == []


@pytest.mark.parametrize(("body", "is_one"), [(BODY, True), ('{"kind": "links"}', False), ("{", False)])
def test_a_message_says_that_it_is_about_an_erasure(body: str, is_one: bool) -> None:
    assert is_about_erasure(body) is is_one
