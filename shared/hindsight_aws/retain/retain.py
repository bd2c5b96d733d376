"""The way in for work that is done before the answer: the same operation and the same job, run on the spot.

Called by the API.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from hindsight_aws.access import require, require_bank
from hindsight_aws.errors import Conflict, DatabaseUnavailable, WorkRaced
from hindsight_aws.faults import reached
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import Operation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.watermark import watermark
from hindsight_aws.ports.store import Transaction
from hindsight_aws.ports.wakeups import LONGEST_DELAY_S
from hindsight_aws.retain import points
from hindsight_aws.retain.admit import Admitted, admit
from hindsight_aws.retain.begin import GaveWay, LeasedOperation, begin
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.guard import guarded
from hindsight_aws.retain.intake.requests import RetainRequest, RetainResult
from hindsight_aws.retain.outcome import (
    Attempt,
    error_of,
    going_on,
    items_of,
    screening_of,
    superseded_by_of,
    totals_of,
    warnings_of,
)
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.run import carry_out, run_retain
from hindsight_aws.retain.submit import earlier, new_operation
from hindsight_aws.screening import events, ledger_lines

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.25
_LEAST_WORTH_TRYING_S = 0.5


def retain(ports: RetainPorts, principal: Principal, bank: str, request: RetainRequest) -> RetainResult:
    """Stores the items' facts before it answers.

    What cannot be done within the time allowed (a slow model, throttling, a document somebody else is writing, a daily
    limit, a database that went away) goes on as an operation, and the answer says so: `is_async`.

    Guarantees: with an `operation_id` the work is done once, however often it is sent: a repetition waits for the
    first and is answered the same, whatever its items hold.

    Raises: InvalidRequest and its kinds, Conflict for an `operation_id` used elsewhere, AccessDenied, NotFound;
    ModelError when the work failed for good, naming the items (the others are stored then); DatabaseUnavailable when
    not even the operation could be written down.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    give_up_at = time.monotonic() + ports.settings.hindsight_retain_sync_seconds
    tasks = accept(request, ports.clock.now(), may_fold=True)
    operation_id = OperationId(request.operation_id or uuid4())
    written_at: datetime | None = None
    detectors = guarded(ports, principal, bank, tasks)
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        before = earlier(tx, principal, found, request.operation_id)
        if before is None:
            admitted = admit(tx, ports.settings, principal, found, tasks, detectors)
            written_at = _write(tx, principal, found, operation_id, admitted)
            before = None if written_at is not None else earlier(tx, principal, found, operation_id)
        standing = tx.limits.standing(ports.clock.now())
        waits = before is not None or standing.parking is not None
        begun = None if waits else begin(tx, operation_id, ports.settings.hindsight_retain_lease_seconds, standing)
    reached(points.AFTER_SUBMIT)
    try:
        attempt = _done(ports, principal, operation_id, begun, give_up_at)
    except (DatabaseUnavailable, WorkRaced) as passing:
        attempt = Attempt("deferred", error=passing, wait_s=ports.settings.hindsight_retain_lease_seconds)
    ended = _now(ports, principal, operation_id)
    if ended is None and attempt.state != "absent":
        return _unread(bank, request, operation_id, attempt, written_at)
    return _answer(ports, principal, bank, request, ended, attempt)


def _write(
    tx: Transaction, principal: Principal, bank: Bank, operation_id: OperationId, admitted: Admitted
) -> datetime | None:
    """Writes the operation down; None when its id was taken a moment ago."""
    operation = new_operation(operation_id, principal, bank, admitted.tasks)
    written_at = tx.operations.add_if_new(bank.bank_id, replace(operation, result=admitted.as_result()))
    if written_at is not None:
        tx.usage.record(ledger_lines(admitted.screening, principal.subject, bank.bank_id, operation_id))
        tx.webhooks.tell(bank.bank_id, events(admitted.screening, operation_id))
    return written_at


def _done(
    ports: RetainPorts,
    principal: Principal,
    operation_id: OperationId,
    begun: LeasedOperation | GaveWay | None,
    give_up_at: float,
) -> Attempt:
    """The attempt that was begun, or one when the operation is free; once more where it must begin anew at once."""
    if isinstance(begun, LeasedOperation):
        attempt = carry_out(ports, principal.tenant_id, begun, give_up_at - time.monotonic())
        is_final = attempt.state != "deferred" or attempt.wait_s > 0
        if is_final or give_up_at - time.monotonic() <= _LEAST_WORTH_TRYING_S:
            return attempt
    return _when_free(ports, principal, operation_id, give_up_at)


def _when_free(ports: RetainPorts, principal: Principal, operation_id: OperationId, give_up_at: float) -> Attempt:
    """Tries until the operation is free or has ended, or time runs out."""
    pause = _FIRST_PAUSE_S
    attempt = run_retain(ports, principal.tenant_id, operation_id, give_up_at - time.monotonic())
    while attempt.state == "busy" and give_up_at - time.monotonic() > _LEAST_WORTH_TRYING_S:
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_S)
        attempt = run_retain(ports, principal.tenant_id, operation_id, give_up_at - time.monotonic())
    return attempt


def _now(ports: RetainPorts, principal: Principal, operation_id: OperationId) -> Operation | None:
    """The operation's row, if it can be read."""
    try:
        with ports.store.transaction(principal.tenant_id) as tx:
            return tx.operations.find(operation_id)
    except DatabaseUnavailable:
        return None


def _unread(
    bank: str, request: RetainRequest, operation_id: OperationId, attempt: Attempt, written_at: datetime | None
) -> RetainResult:
    """The answer when the row went, or could not be read again after the work: what the attempt itself knows."""
    if attempt.state == "failed" and attempt.error is not None:
        raise attempt.error
    token = None if written_at is None else watermark(written_at, [operation_id]).encode()
    if attempt.state == "completed":
        return RetainResult(bank, len(request.items), False, _named(request), usage=attempt.totals, watermark=token)
    return RetainResult(bank, len(request.items), True, operation_id, watermark=token)


def _answer(
    ports: RetainPorts,
    principal: Principal,
    bank: str,
    request: RetainRequest,
    ended: Operation | None,
    attempt: Attempt,
) -> RetainResult:
    """The answer as the operation's row has it, so that a repetition is answered the same."""
    if ended is None or ended.status == "cancelled":
        raise Conflict("the retain was cancelled, or its bank deleted, before it was done")
    if ended.status == "failed":
        raise error_of(ended.error_kind, ended.error_message)
    if ended.status == "completed":
        return RetainResult(
            bank,
            ended.items_count,
            False,
            _named(request),
            usage=totals_of(ended.result),
            watermark=watermark(ended.created_at, [ended.operation_id]).encode(),
            items=items_of(ended.result),
            superseded_by=superseded_by_of(ended.result),
            screening=screening_of(ended.result),
            warnings=warnings_of(ended.result),
        )
    if attempt.state != "absent" and attempt.wait_s <= LONGEST_DELAY_S:
        ports.wakeups.wake_operations(principal.tenant_id, [ended.operation_id], round(attempt.wait_s))
    return going_on(bank, ended)


def _named(request: RetainRequest) -> OperationId | None:
    return None if request.operation_id is None else OperationId(request.operation_id)
