"""Which run a step is about, and its row.  Called by the steps; calls the store port."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hindsight_aws.errors import NotFound
from hindsight_aws.model.ids import BankId, RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import Run
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.steps.begin import PLAN


@dataclass(frozen=True, slots=True)
class RunRef:
    """Which run, and the turn its workflow is at."""

    tenant_id: TenantId
    bank_id: BankId
    run_id: RunId
    turn: int


def run_of(tx: Transaction, ref: RunRef) -> Run:
    """The run's row.  Raises: NotFound."""
    run = tx.reflect.find(ref.bank_id, ref.run_id)
    if run is None:
        raise NotFound("there is no such run")
    return run


def is_at(run: Run, ref: RunRef) -> bool:
    """Whether the run goes on and is at the turn of the step: it was not ended, cancelled or overtaken."""
    return run.status == "running" and run.turn == ref.turn


def plan_of(run: Run) -> JsonObject:
    """The planner's state as it stands in the row."""
    document = run.state.get(PLAN)
    return document if isinstance(document, dict) else {}


def since(began: float) -> int:
    """Milliseconds since a reading of the monotonic clock."""
    return int((time.monotonic() - began) * 1000)
