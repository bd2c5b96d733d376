"""Makes operations that failed, were cancelled or wait pending again, as if new."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.errors import Conflict
from hindsight_aws.model.ids import OperationId, ScopeId
from hindsight_aws.model.operation import (
    CONSOLIDATION,
    FILE_CONVERT_RETAIN,
    POLICY_REBUILD,
    REEMBED,
    RETAIN,
    TRANSFERS,
    Operation,
)
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.again import again
from hindsight_aws.operations.sight import require_own
from hindsight_aws.ports.operations import Retried
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.ports.wakeups import Wakeups


def retry(store: Store, wakeups: Wakeups, principal: Principal, bank: str, operation_id: OperationId) -> None:
    """Puts an operation back to work as if new; of a parent, the children that failed or were cancelled.

    What an earlier attempt paid a model for is not asked again.

    Raises: Conflict when there is nothing to retry, for a rebuild, which is asked for anew, and for a re-embedding
    while its bank has another; NotFound, AccessDenied, DatabaseUnavailable; WorkRaced as `again` does.
    """
    operation, retried, scopes = again(lambda: _retry(store, principal, bank, operation_id))
    tenant_id = principal.tenant_id
    if of_retain := _of_kind(retried, RETAIN):
        wakeups.wake_operations(tenant_id, of_retain)
    if of_files := _of_kind(retried, FILE_CONVERT_RETAIN):
        wakeups.wake_conversions(tenant_id, of_files)
    if of_transfers := [each.operation_id for each in retried if each.kind in {*TRANSFERS, REEMBED}]:
        wakeups.wake_transfers(tenant_id, of_transfers)
    if scopes:
        wakeups.wake_scopes(tenant_id, operation.bank_id, scopes)


def _retry(
    store: Store, principal: Principal, bank: str, operation_id: OperationId
) -> tuple[Operation, Sequence[Retried], Sequence[ScopeId]]:
    """What is retried, and the scopes that have work again."""
    with store.transaction(principal.tenant_id) as tx:
        operation = require_own(tx, principal, bank, operation_id)
        if operation.kind == POLICY_REBUILD:
            raise Conflict(f"Operation {operation_id} is a rebuild and cannot be retried; ask for the rebuild again")
        retried = tx.operations.retry(operation.bank_id, operation_id)
        if not retried:
            raise Conflict(f"Operation {operation_id} is {operation.status} and cannot be retried")
        if operation.kind == REEMBED:
            _require_no_other(tx, bank, operation)
        scopes = _reopened(tx, operation)
    return operation, retried, scopes


def _require_no_other(tx: Transaction, bank: str, operation: Operation) -> None:
    """Of two re-embeddings of a bank, one would put its vectors in place while those of the other serve.

    The bank is locked as by whoever asks for one, so that one of the two sees the other.  Raises: Conflict.
    """
    tx.banks.lock(bank)
    other = tx.vectors.going_on(operation.bank_id, but=operation.operation_id)
    if other is not None:
        raise Conflict(f"Operation {other.operation_id} is embedding the bank by {other.model}")


def _reopened(tx: Transaction, operation: Operation) -> Sequence[ScopeId]:
    """The scopes to wake when it is consolidation that is retried: of those it covers, facts that failed wait again."""
    if operation.kind != CONSOLIDATION:
        return ()
    tx.consolidation.recover(operation.bank_id, covered_by=operation.operation_id)
    return tx.consolidation.request(operation.bank_id, covered_by=operation.operation_id)


def _of_kind(retried: Sequence[Retried], kind: str) -> list[OperationId]:
    return [each.operation_id for each in retried if each.kind == kind]
