"""The way in for work that is done before the answer: the same operation and the same job, run on the spot.

Called by the API and by tools.
"""

from __future__ import annotations

import time
from uuid import uuid4

from hindsight_aws.access import require, require_bank
from hindsight_aws.errors import Conflict, DatabaseUnavailable, WorkRaced
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.retain import points
from hindsight_aws.retain.begin import begin
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.admit import admit
from hindsight_aws.retain.intake.requests import RetainRequest, RetainResult, RetainTotals
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.run import carry_out, run_retain
from hindsight_aws.retain.submit import new_operation

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.25
_LEAST_WORTH_TRYING_S = 0.5


def retain(ports: RetainPorts, principal: Principal, bank: str, request: RetainRequest) -> RetainResult:
    """Stores the items' facts before it answers.

    What cannot be done within the time allowed (a slow model, throttling, a document somebody else is writing, a
    database that went away) goes on as an operation, and the answer says so: `is_async`.

    Raises: InvalidRequest and its kinds, AccessDenied, NotFound; ModelError when the work failed for good, naming the
    items (the others are stored then); DatabaseUnavailable when not even the operation could be written down.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    give_up_at = time.monotonic() + ports.settings.hindsight_retain_sync_seconds
    tasks = accept(request, ports.clock.now(), may_fold=True)
    if not tasks:
        return RetainResult(bank, 0, False, usage=RetainTotals())
    operation_id = OperationId(uuid4())
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        admitted = admit(tx, ports.settings, principal, found, tasks)
        tx.operations.add(found.bank_id, [new_operation(operation_id, principal, found, admitted)])
        leased = begin(tx, operation_id, ports.settings.hindsight_retain_lease_seconds)
    reached(points.AFTER_SUBMIT)
    try:
        if leased is not None:
            attempt = carry_out(ports, principal.tenant_id, leased, give_up_at - time.monotonic())
        else:
            attempt = _when_free(ports, principal, operation_id, give_up_at)
    except (DatabaseUnavailable, WorkRaced) as passing:
        attempt = Attempt("deferred", error=passing, wait_s=ports.settings.hindsight_retain_lease_seconds)
    return _answer(ports, principal, bank, len(request.items), operation_id, attempt)


def _when_free(ports: RetainPorts, principal: Principal, operation_id: OperationId, give_up_at: float) -> Attempt:
    """Tries until the document is free or time runs out."""
    pause = _FIRST_PAUSE_S
    attempt = Attempt("busy")
    while attempt.state == "busy" and give_up_at - time.monotonic() > _LEAST_WORTH_TRYING_S:
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_S)
        attempt = run_retain(ports, principal.tenant_id, operation_id, give_up_at - time.monotonic())
    return attempt


def _answer(
    ports: RetainPorts, principal: Principal, bank: str, items: int, operation_id: OperationId, attempt: Attempt
) -> RetainResult:
    if attempt.state == "completed":
        return RetainResult(bank, items, False, usage=attempt.totals)
    if attempt.state == "failed" and attempt.error is not None:
        raise attempt.error
    if attempt.state == "absent":
        return _elsewhere(ports, principal, bank, items, operation_id)
    ports.wakeups.wake_operations(principal.tenant_id, [operation_id], round(min(attempt.wait_s, 900)))
    return RetainResult(bank, items, True, operation_id)


def _elsewhere(
    ports: RetainPorts, principal: Principal, bank: str, items: int, operation_id: OperationId
) -> RetainResult:
    """The answer when another worker ended the operation, or took it over, or somebody cancelled it."""
    with ports.store.transaction(principal.tenant_id) as tx:
        operation = tx.operations.find(operation_id)
    if operation is None or operation.status == "cancelled":
        raise Conflict("the retain was cancelled, or its bank deleted, before it was done")
    if operation.status == "failed":
        raise Conflict(operation.error_message or "the retain failed")
    return RetainResult(bank, items, True, operation_id)
