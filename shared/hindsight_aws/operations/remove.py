"""Removes the records of operations that have ended."""

from __future__ import annotations

from hindsight_aws.errors import Conflict
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.sight import require_own
from hindsight_aws.ports.store import Store


def remove(store: Store, principal: Principal, bank: str, operation_id: OperationId) -> str | None:
    """Removes the record of an ended operation, and of those under it; what they stored stays.

    Returns the key of the archive that a transfer made or reads, which is the caller's to delete.

    An id that callers chose is free again afterwards: the same request would be done once more.

    Raises: Conflict when it has not ended; NotFound, AccessDenied, DatabaseUnavailable.
    """
    with store.transaction(principal.tenant_id) as tx:
        operation = require_own(tx, principal, bank, operation_id)
        archive_key = tx.transfers.archive_of(operation.bank_id, operation_id)
        if not tx.operations.remove(operation.bank_id, operation_id):
            raise Conflict(f"Operation {operation_id} is {operation.status}; only one that has ended can be deleted")
    return archive_key
