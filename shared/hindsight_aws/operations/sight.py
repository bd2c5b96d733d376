"""Finds the operation that a caller wants to change, as far as the caller may see it.

Called by the use cases of this package.
"""

from __future__ import annotations

from hindsight_aws.access import operations_subject, require, require_bank
from hindsight_aws.errors import NotFound
from hindsight_aws.model.ids import OperationId, RunId
from hindsight_aws.model.operation import Operation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.reflect import Run
from hindsight_aws.ports.store import Transaction


def require_own(tx: Transaction, principal: Principal, bank: str, operation_id: OperationId) -> Operation:
    """The operation, in a bank of the caller's and, when the key is limited, of the caller's own.

    Raises: AccessDenied without the permission to write; NotFound, alike for what is not there and what is not seen.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    found = tx.banks.find(bank)
    operation = None if found is None else tx.operations.find(operation_id)
    is_seen = (
        found is not None
        and operation is not None
        and operation.bank_id == found.bank_id
        and operations_subject(principal) in (None, operation.subject)
    )
    if operation is None or not is_seen:
        raise NotFound(f"Operation {operation_id} not found")
    return operation


def own_run(tx: Transaction, principal: Principal, bank: str, operation_id: OperationId) -> Run | None:
    """The reflect run of that id, seen as an operation is; None when there is none.

    Raises: as `require_own`, but for what is not there.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    found = tx.banks.find(bank)
    run = None if found is None else tx.reflect.find(found.bank_id, RunId(operation_id))
    is_seen = run is not None and run.kind == "reflect" and operations_subject(principal) in (None, run.subject)
    return run if is_seen else None
