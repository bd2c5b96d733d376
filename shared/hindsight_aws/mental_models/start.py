"""Starts refreshes that are due, as runs of the reflect workflow.  Called by the API, the jobs and the sweep."""

from __future__ import annotations

import logging
from uuid import UUID, uuid4

from hindsight_aws.errors import HindsightError
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.mental_models.refresh.failure import MOST_ATTEMPTS, details
from hindsight_aws.model.ids import BankId, OperationId, RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import NewRun
from hindsight_aws.ports.refreshes import RefreshLease
from hindsight_aws.ports.store import Transaction
from hindsight_aws.usage.allowance import parked

_log = logging.getLogger(__name__)

_LEASE_MARGIN_S = 60.0
_REFUSED_DELAY_S = 60.0
_MOST_AT_ONCE = 20


def start(door: PagesDoor, tenant_id: TenantId, bank_id: BankId, operation_id: OperationId) -> RunId | None:
    """The run that works on the refresh from now on; None: it is not due, parked, or another of its model runs.

    Guarantees: rows first, then the execution; one that cannot be started waits again and is started by the sweep.
    """
    seconds = door.settings.hindsight_api_reflect_wall_timeout
    with door.store.transaction(tenant_id) as tx:
        if parked(tx, door.clock.now()) is not None:
            return None
        lease = tx.refreshes.claim(bank_id, operation_id, seconds + _LEASE_MARGIN_S)
        if lease is None:
            return None
        if lease.attempts > MOST_ATTEMPTS:
            _give_up(tx, bank_id, lease)
            return None
        request: JsonObject = {
            "tenant_id": str(tenant_id),
            "page_id": str(lease.page_id),
            "operation_id": str(operation_id),
            "fence": lease.fence,
            "full": lease.full,
        }
        run_id = write_run(tx, bank_id, lease.subject, f"{operation_id}:{lease.fence}", request, seconds)
        if run_id is None:
            raise AssertionError("a refresh that is leased once has one run")
    try:
        door.workflows.start_reflect(tenant_id, bank_id, run_id)
    except HindsightError as refused:
        _log.warning("refresh %s cannot be started now: %s: %s", operation_id, type(refused).__name__, refused)
        with door.store.transaction(tenant_id) as tx:
            if tx.refreshes.lock(bank_id, operation_id, lease.fence) is not None:
                tx.refreshes.put_off(bank_id, operation_id, _REFUSED_DELAY_S, str(refused), counts=False)
            tx.reflect.fail(bank_id, run_id, type(refused).__name__, str(refused))
        return None
    return run_id


def _give_up(tx: Transaction, bank_id: BankId, lease: RefreshLease) -> None:
    """Ends a refresh whose workers died each time; automatic ones go on."""
    message = f"{MOST_ATTEMPTS} attempts came to no end"
    if tx.mental_models.lock(bank_id, lease.page_id) is not None:
        tx.mental_models.fail(bank_id, lease.page_id, "refresh_failed_error", "unexpected_error", message, pauses=False)
    told = details("refresh_failed_error", "unexpected_error")
    tx.refreshes.fail(bank_id, lease.operation_id, "WorkCrashed", message, told)


def start_due(door: PagesDoor, tenant_id: TenantId, bank_id: BankId) -> None:
    """Starts what is due of a bank, as much as one worker should; the sweep starts the rest."""
    with door.store.transaction(tenant_id) as tx:
        due = tx.refreshes.due(bank_id, _MOST_AT_ONCE)
    for operation_id in due:
        start(door, tenant_id, bank_id, operation_id)


def write_run(
    tx: Transaction, bank_id: BankId, subject: str, key: str, request: JsonObject, seconds: float
) -> RunId | None:
    """Writes the run of a refresh; None where one of this key runs already."""
    run_id = RunId(uuid4())
    made = tx.reflect.create(NewRun(bank_id, run_id, run_key(key), subject, request, seconds, "refresh"))
    return run_id if made else None


def run_key(key: str) -> str:
    """By what the run of a refresh is told from others that run."""
    return f"refresh:{key}"


def dry_request(tenant_id: TenantId, page_id: UUID) -> JsonObject:
    """What the run of a refresh that writes nothing is asked."""
    return {"tenant_id": str(tenant_id), "page_id": str(page_id), "operation_id": None, "fence": 0, "full": False}
