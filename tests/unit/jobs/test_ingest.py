"""What becomes of a message of the ingest queue when the rows cannot be reached."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, DatabaseUnavailable, HindsightError, WorkRaced
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.retain import RetainPorts
from hindsight_aws.settings import Settings
from tests.support.broken_store import BrokenStore
from tests.support.models import HashEmbedder, NotedWakeups

TENANT, OPERATION = uuid4(), uuid4()
BODY = json.dumps({"tenant_id": str(TENANT), "operation_id": str(OPERATION)})


def _ports(error: HindsightError, wakeups: NotedWakeups) -> RetainPorts:
    store = BrokenStore(error)
    return RetainPorts(store, HashEmbedder(), None, wakeups, SystemClock(), Settings())  # type: ignore[arg-type]  # one method is asked


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("gone"), DatabaseTooSlow("slow"), WorkRaced("raced")], ids=lambda e: type(e).__name__
)
def test_a_fault_that_passes_costs_a_delayed_wake_up_and_no_receive(error: HindsightError) -> None:
    wakeups = NotedWakeups()

    outcome = ingest(_ports(error, wakeups), BODY, 60)

    assert outcome is Outcome.DONE
    assert wakeups.operations == [(TENANT, OPERATION, 60)]


def test_a_fault_that_stays_is_given_up_without_a_wake_up() -> None:
    wakeups = NotedWakeups()

    outcome = ingest(_ports(DatabaseRefused("23514"), wakeups), BODY, 60)

    assert outcome is Outcome.GIVEN_UP
    assert wakeups.operations == []


def test_without_time_left_the_operation_is_woken_at_once_and_not_begun() -> None:
    wakeups = NotedWakeups()

    outcome = ingest(_ports(DatabaseUnavailable("never asked"), wakeups), BODY, 0.5)

    assert outcome is Outcome.DONE
    assert wakeups.operations == [(TENANT, OPERATION, 0)]
