"""What becomes of a message of the consolidation queue when the rows cannot be reached."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, DatabaseUnavailable, HindsightError, WorkRaced
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.settings import Settings
from tests.support.broken_store import BrokenStore
from tests.support.models import HashEmbedder, NotedWakeups
from tests.support.sweeping import quiet_pages

TENANT, BANK, SCOPE = uuid4(), uuid4(), uuid4()
BODY = json.dumps({"tenant_id": str(TENANT), "bank_id": str(BANK), "scope_id": str(SCOPE)})


def _consolidate(error: HindsightError, wakeups: NotedWakeups, body: str = BODY) -> Outcome:
    store: Any = BrokenStore(error)
    ports = ConsolidationPorts(store, HashEmbedder(), None, wakeups, SystemClock(), Settings())
    return consolidate(ports, body, lambda: 300.0, quiet_pages(store, Settings()))


@pytest.mark.parametrize(
    "error",
    [DatabaseUnavailable("gone"), DatabaseTooSlow("slow"), WorkRaced("raced")],
    ids=lambda e: f"C108-{type(e).__name__}",
)
def test_a_fault_that_passes_costs_a_delayed_wake_up_and_no_receive(error: HindsightError) -> None:
    wakeups = NotedWakeups()

    outcome = _consolidate(error, wakeups)

    assert outcome is Outcome.DONE
    assert wakeups.scopes == [(TENANT, BANK, SCOPE)]
    assert wakeups.delays == [30]


def test_a_fault_that_stays_is_given_up_without_a_wake_up() -> None:
    wakeups = NotedWakeups()

    outcome = _consolidate(DatabaseRefused("23514"), wakeups)

    assert outcome is Outcome.GIVEN_UP
    assert wakeups.scopes == []


@pytest.mark.parametrize(
    "body", ["", "{}", "[]", '{"tenant_id": "x", "bank_id": "y", "scope_id": "z"}', "null", '{"kind": "refreshes"}']
)
def test_a_message_that_names_no_scope_is_dropped(body: str) -> None:
    assert _consolidate(DatabaseUnavailable("gone"), NotedWakeups(), body) is Outcome.GIVEN_UP
