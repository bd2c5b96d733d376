"""What becomes of a message of the convert queue when it says nothing, or the rows cannot be reached."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from hindsight_aws.errors import DatabaseRefused, DatabaseUnavailable, HindsightError, WorkRaced
from hindsight_aws.files import ConversionPorts
from hindsight_aws.jobs.convert import convert
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.retain import RetainPorts
from hindsight_aws.settings import Settings
from tests.support.broken_store import BrokenStore
from tests.support.files import MemoryFiles, PlainConverter
from tests.support.models import HashEmbedder, NotedWakeups

TENANT, OPERATION = uuid4(), uuid4()
BODY = json.dumps({"tenant_id": str(TENANT), "operation_id": str(OPERATION)})


def _ports(error: HindsightError, wakeups: NotedWakeups) -> ConversionPorts:
    store = BrokenStore(error)
    retain = RetainPorts(store, HashEmbedder(), None, wakeups, SystemClock(), Settings())  # type: ignore[arg-type]  # one method is asked
    return ConversionPorts(retain, MemoryFiles(), PlainConverter())


@pytest.mark.parametrize("error", [DatabaseUnavailable("gone"), WorkRaced("raced")], ids=lambda e: type(e).__name__)
def test_a_fault_that_passes_costs_a_delayed_wake_up_and_no_receive(error: HindsightError) -> None:
    wakeups = NotedWakeups()

    outcome = convert(_ports(error, wakeups), BODY, 60)

    assert outcome is Outcome.DONE
    assert wakeups.conversions == [(TENANT, OPERATION, 60)]
    assert wakeups.operations == []


def test_a_fault_that_stays_is_given_up_without_a_wake_up() -> None:
    wakeups = NotedWakeups()

    outcome = convert(_ports(DatabaseRefused("23514"), wakeups), BODY, 60)

    assert outcome is Outcome.GIVEN_UP
    assert wakeups.conversions == []


@pytest.mark.parametrize("body", ["", "[]", "null", "{}", '{"tenant_id": 1, "operation_id": 2}', "\x00"])
def test_a_message_that_names_no_operation_is_dropped(body: str) -> None:
    wakeups = NotedWakeups()

    assert convert(_ports(DatabaseUnavailable("never asked"), wakeups), body, 60) is Outcome.GIVEN_UP
    assert wakeups.conversions == []
