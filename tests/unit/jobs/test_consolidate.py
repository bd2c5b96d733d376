"""What becomes of a message of the consolidation queue when the rows cannot be reached."""

from __future__ import annotations

import json
from typing import NoReturn
from uuid import uuid4

import pytest

from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, DatabaseUnavailable, HindsightError, WorkRaced
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.settings import Settings
from tests.support.models import HashEmbedder, NotedWakeups

TENANT, BANK, SCOPE = uuid4(), uuid4(), uuid4()
BODY = json.dumps({"tenant_id": str(TENANT), "bank_id": str(BANK), "scope_id": str(SCOPE)})


class BrokenStore:
    """A store none of whose transactions begins."""

    def __init__(self, error: HindsightError) -> None:
        self._error = error

    def transaction(self, tenant_id: object) -> NoReturn:
        raise self._error


def _ports(error: HindsightError, wakeups: NotedWakeups) -> ConsolidationPorts:
    store = BrokenStore(error)
    return ConsolidationPorts(store, HashEmbedder(), None, wakeups, SystemClock(), Settings())  # type: ignore[arg-type]  # one method is asked


@pytest.mark.parametrize(
    "error",
    [DatabaseUnavailable("gone"), DatabaseTooSlow("slow"), WorkRaced("raced")],
    ids=lambda e: f"C108-{type(e).__name__}",
)
def test_a_fault_that_passes_costs_a_delayed_wake_up_and_no_receive(error: HindsightError) -> None:
    wakeups = NotedWakeups()

    outcome = consolidate(_ports(error, wakeups), BODY, lambda: 300.0)

    assert outcome is Outcome.DONE
    assert wakeups.scopes == [(TENANT, BANK, SCOPE)]
    assert wakeups.delays == [30]


def test_a_fault_that_stays_is_given_up_without_a_wake_up() -> None:
    wakeups = NotedWakeups()

    outcome = consolidate(_ports(DatabaseRefused("23514"), wakeups), BODY, lambda: 300.0)

    assert outcome is Outcome.GIVEN_UP
    assert wakeups.scopes == []


@pytest.mark.parametrize(
    "body", ["", "{}", "[]", '{"tenant_id": "x", "bank_id": "y", "scope_id": "z"}', "null", '{"kind": "refreshes"}']
)
def test_a_message_that_names_no_scope_is_dropped(body: str) -> None:
    assert consolidate(_ports(DatabaseUnavailable("gone"), NotedWakeups()), body, lambda: 300.0) is Outcome.GIVEN_UP
