"""Cancels operations: what is committed stays, what is not begun never begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_aws.errors import Conflict
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import CONSOLIDATION, REEMBED, REFRESH_MENTAL_MODEL, TRANSFERS
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.again import again
from hindsight_aws.operations.sight import own_run, require_own
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups


def cancel(store: Store, wakeups: Wakeups, principal: Principal, bank: str, operation_id: OperationId) -> None:
    """Cancels an operation or a reflect run that has not ended, or, of a parent, the children that have not.

    Guarantees: once it returns no attempt can commit, whoever is at it; that worker makes no further model call once it
    has noticed, which it does before each.

    Raises: Conflict when it has ended; NotFound, AccessDenied, DatabaseUnavailable; WorkRaced as `again` does.
    """
    to_wake = again(lambda: _cancel(store, principal, bank, operation_id))
    if to_wake.operations:
        wakeups.wake_operations(principal.tenant_id, to_wake.operations)
    if to_wake.transfers:
        wakeups.wake_transfers(principal.tenant_id, to_wake.transfers)


@dataclass(frozen=True, slots=True)
class _ToWake:
    """Whom to wake once it is cancelled; `transfers` remove what is too much to be removed at once."""

    operations: Sequence[OperationId] = ()
    transfers: Sequence[OperationId] = ()


def _cancel(store: Store, principal: Principal, bank: str, operation_id: OperationId) -> _ToWake:
    has_left = False
    with store.transaction(principal.tenant_id) as tx:
        run = own_run(tx, principal, bank, operation_id)
        if run is not None:
            if not tx.reflect.cancel(run.bank_id, run.run_id):
                raise Conflict(f"Operation {operation_id} is {run.status} and cannot be cancelled")
            return _ToWake()
        operation = require_own(tx, principal, bank, operation_id)
        cancelled = tx.operations.cancel(operation.bank_id, operation_id)
        if cancelled is None:
            raise Conflict(f"Operation {operation_id} is {operation.status} and cannot be cancelled")
        if operation.kind == CONSOLIDATION:
            tx.consolidation.withdraw(operation.bank_id, [operation_id])
        elif operation.kind == REFRESH_MENTAL_MODEL:
            tx.refreshes.stop(operation.bank_id, operation_id)
        elif operation.kind in TRANSFERS:
            tx.transfers.abandon(operation.bank_id, operation_id)
        elif operation.kind == REEMBED:
            if tx.vectors.is_adopted(operation.bank_id, operation_id):
                raise Conflict(f"Operation {operation_id} cannot be cancelled any more: the new vectors serve already")
            has_left = tx.vectors.drop(operation.bank_id, operation_id)
            tx.vectors.open(operation.bank_id)
    return _ToWake(cancelled.to_wake, [operation_id] if has_left else ())
