"""Takes up a retain operation: leases it and its documents, and reads what it needs, in one transaction.

Called by the job; calls the store ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import DocumentId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.documents import StoredDocument
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain.intake.accepted import DocumentTask, from_json
from hindsight_aws.retain.plan import named_documents, planned_id


@dataclass(frozen=True, slots=True)
class LeasedOperation:
    """A leased operation with its work and what is stored of it; `facts_in_bank` is how many there were."""

    lease: Lease
    bank: Bank
    tasks: tuple[DocumentTask, ...]
    stored: Mapping[DocumentId, StoredDocument]
    kept: Mapping[str, Mapping[str, object]]
    facts_in_bank: int


def begin(tx: Transaction, operation_id: OperationId, lease_s: float) -> LeasedOperation | None:
    """The operation, leased, or None when it is not there, has ended, is not due, or is held.

    A holder is told to look again.  An operation whose payload cannot be read (a damaged row, another version's) fails
    here, or it would never end.
    """
    lease = tx.operations.lease(operation_id, lease_s)
    if lease is None:
        return None
    bank = tx.banks.by_id(lease.bank_id)
    if bank is None:
        return None
    try:
        tasks = from_json(lease.payload)
    except (AttributeError, KeyError, TypeError, ValueError) as unreadable:
        reason = f"the work as written down cannot be read: {unreadable!r}"
        tx.operations.fail(lease, type(unreadable).__name__, reason, {}, lease.payload)
        return None
    if not tx.operations.lease_documents(lease, named_documents(bank.bank_id, tasks), lease_s):
        return None
    is_retry = lease.fence > 1
    may_be_stored = is_retry or bool(lease.document_ids)
    documents = [planned_id(bank.bank_id, operation_id, task) for task in tasks] if may_be_stored else []
    return LeasedOperation(
        lease=lease,
        bank=bank,
        tasks=tasks,
        stored=tx.documents.stored(bank.bank_id, documents) if documents else {},
        kept=tx.operations.kept_extractions(lease) if is_retry else {},
        facts_in_bank=tx.memories.count(bank.bank_id),
    )
