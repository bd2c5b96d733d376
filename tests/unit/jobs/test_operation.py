"""What becomes of a message that names an operation, by how the attempt at it ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import uuid4

import pytest

from hindsight_aws.errors import DatabaseRefused, DatabaseUnavailable, HindsightError
from hindsight_aws.jobs.operation import work_on
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.operations.attempt import Attempt, AttemptState

TENANT, OPERATION = TenantId(uuid4()), OperationId(uuid4())
BODY = json.dumps({"tenant_id": str(TENANT), "operation_id": str(OPERATION)})


class Woken:
    """Notes after how many seconds the operation is woken again."""

    def __init__(self) -> None:
        self.after: list[int] = []

    def __call__(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int) -> None:
        assert (tenant_id, list(operation_ids)) == (TENANT, [OPERATION])
        self.after.append(delay_s)


@pytest.mark.parametrize(
    ("state", "wait_s", "outcome", "after"),
    [
        ("completed", 0.0, Outcome.DONE, []),
        ("busy", 0.0, Outcome.DONE, []),
        ("absent", 0.0, Outcome.DONE, []),
        ("failed", 0.0, Outcome.GIVEN_UP, []),
        ("deferred", 0.0, Outcome.DONE, [0]),
        ("deferred", 20.0, Outcome.DONE, [20]),
        ("deferred", 900.5, Outcome.DONE, []),  # the sweep wakes what waits longer than a message can be delayed
    ],
    ids=["completed", "busy", "absent", "failed", "deferred", "deferred-20", "deferred-long"],
)
def test_an_attempt_ends(state: AttemptState, wait_s: float, outcome: Outcome, after: list[int]) -> None:
    woken = Woken()

    ended = work_on(BODY, lambda _tenant, _operation: Attempt(state, wait_s=wait_s), woken)

    assert (ended, woken.after) == (outcome, after)


@pytest.mark.parametrize(
    ("error", "outcome", "after"),
    [(DatabaseUnavailable("gone"), Outcome.DONE, [60]), (DatabaseRefused("23514"), Outcome.GIVEN_UP, [])],
    ids=["passing", "staying"],
)
def test_an_attempt_that_breaks_off(error: HindsightError, outcome: Outcome, after: list[int]) -> None:
    woken = Woken()

    def run(_tenant_id: TenantId, _operation_id: OperationId) -> Attempt:
        raise error

    assert (work_on(BODY, run, woken), woken.after) == (outcome, after)
