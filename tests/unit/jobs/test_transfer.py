"""What becomes of a message of the transfer queue when it says nothing, or the rows cannot be reached."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from hindsight_aws.errors import DatabaseRefused, DatabaseUnavailable, HindsightError
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.transfer import transfer
from hindsight_aws.transfer.ports import TransferPorts
from tests.support.models import NotedWakeups

TENANT, OPERATION = uuid4(), uuid4()
BODY = json.dumps({"tenant_id": str(TENANT), "operation_id": str(OPERATION)})


def _ports(error: HindsightError, wakeups: NotedWakeups) -> TransferPorts:
    def refuse(_: UUID) -> Any:
        raise error

    return cast(TransferPorts, SimpleNamespace(store=SimpleNamespace(transaction=refuse), wakeups=wakeups))


def test_rows_that_cannot_be_reached_are_looked_at_again_in_a_minute() -> None:
    wakeups = NotedWakeups()

    outcome = transfer(_ports(DatabaseUnavailable("no connection"), wakeups), BODY, 60)

    assert outcome is Outcome.DONE
    assert wakeups.transfers == [(TENANT, OPERATION, 60)]


def test_what_the_database_refuses_is_not_asked_again() -> None:
    wakeups = NotedWakeups()

    assert transfer(_ports(DatabaseRefused("23514"), wakeups), BODY, 60) is Outcome.GIVEN_UP
    assert wakeups.transfers == []


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"tenant_id": "x", "operation_id": "y"}'])
def test_a_message_that_names_no_operation_is_dropped(body: str) -> None:
    wakeups = NotedWakeups()

    assert transfer(_ports(DatabaseUnavailable("never asked"), wakeups), body, 60) is Outcome.GIVEN_UP
