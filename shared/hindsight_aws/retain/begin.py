"""Takes up a retain operation: leases it and its documents, and reads what it needs, in one transaction.

Called by the job; calls the store ports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hindsight_aws.model.bank import Bank
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.model.limits import Standing
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.documents import StoredDocument
from hindsight_aws.ports.operations import Overtaker
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain.body import parts_again
from hindsight_aws.retain.intake.accepted import DocumentTask, from_json
from hindsight_aws.retain.plan import named_documents, planned_id


@dataclass(frozen=True, slots=True)
class LeasedOperation:
    """A leased operation with its work and what is stored of it; `facts_in_bank` is how many there were.

    `left_out` need not be done, for a later operation, as `superseded` names it by document, has replaced what
    they would write.  `overtaken` are documents to be replaced to which a later operation has added meanwhile.
    `is_bounded`: the tenant has limits, and is asked before each model call.
    """

    lease: Lease
    bank: Bank
    tasks: tuple[DocumentTask, ...]
    stored: Mapping[DocumentId, StoredDocument]
    kept: Mapping[str, Mapping[str, object]]
    facts_in_bank: int
    left_out: tuple[DocumentTask, ...] = ()
    superseded: Mapping[str, OperationId] = field(default_factory=dict)
    overtaken: tuple[str, ...] = ()
    is_bounded: bool = False


@dataclass(frozen=True, slots=True)
class GaveWay:
    """The operation lets the next ones on its documents go first, who are to be woken after the commit.

    `is_over`: it will not come after them, for what is written down of it cannot be read.
    """

    to_wake: tuple[OperationId, ...]
    is_over: bool = False


def begin(
    tx: Transaction, operation_id: OperationId, lease_s: float, standing: Standing
) -> LeasedOperation | GaveWay | None:
    """The operation, leased, or None when it is not there, has ended, is not due, or is held.

    A holder is told to look again.  An operation whose payload cannot be read (a damaged row, another version's) fails
    here, or it would never end.
    """
    lease = tx.operations.lease(operation_id, lease_s)
    bank = None if lease is None else tx.banks.by_id(lease.bank_id)
    if lease is None or bank is None:
        return None
    try:
        tasks = from_json(lease.payload)
    except (AttributeError, KeyError, TypeError, ValueError) as unreadable:
        return _give_up(tx, lease, unreadable)
    if not tx.operations.lease_documents(lease, named_documents(bank.bank_id, tasks), lease_s):
        return None
    later = _later_writes(tx, lease, tasks)
    if not later and _gives_way(tx, lease, tasks):
        tx.operations.give_way(lease)
        return GaveWay(tuple(tx.operations.waiting(lease)))
    superseded = {name: over.operation_id for name, over in later.items() if over.replaced}
    left_out = tuple(task for task in tasks if task.external_id in superseded)
    tasks = tuple(task for task in tasks if task.external_id not in superseded)
    is_retry = lease.fence > 1
    stored = _stored(tx, bank, operation_id, tasks) if is_retry or lease.document_ids else {}
    return LeasedOperation(
        lease=lease,
        bank=bank,
        tasks=tuple(_whole(bank.bank_id, task, stored) for task in tasks),
        stored=stored,
        kept=tx.operations.kept_extractions(lease) if is_retry else {},
        facts_in_bank=tx.memories.count(bank.bank_id),
        left_out=left_out,
        superseded=superseded,
        overtaken=tuple(name for name, over in later.items() if not over.replaced),
        is_bounded=standing.is_bounded,
    )


def _give_up(tx: Transaction, lease: Lease, unreadable: Exception) -> GaveWay:
    reason = f"the work as written down cannot be read: {unreadable!r}"
    tx.operations.fail(lease, type(unreadable).__name__, reason, {}, lease.payload)
    return GaveWay(tuple(tx.operations.waiting(lease)), is_over=True)


def _stored(
    tx: Transaction, bank: Bank, operation_id: OperationId, tasks: Sequence[DocumentTask]
) -> Mapping[DocumentId, StoredDocument]:
    documents = [planned_id(bank.bank_id, operation_id, task) for task in tasks]
    return tx.documents.stored(bank.bank_id, documents) if documents else {}


def _later_writes(tx: Transaction, lease: Lease, tasks: Sequence[DocumentTask]) -> dict[str, Overtaker]:
    """Documents to be replaced that a later operation has written meanwhile: what is there is newer than this text."""
    names = _replaced(lease, tasks)
    if lease.fence == 1 or not names:
        return {}
    return {names[key]: over for key, over in tx.operations.overtaken(lease).items() if key in names}


def _gives_way(tx: Transaction, lease: Lease, tasks: Sequence[DocumentTask]) -> bool:
    """Whether the next operation replaces all that this one would write: making it first would be paid for nothing.

    It is done after all should that one fail.
    """
    names = _replaced(lease, tasks)
    return len(names) == len(tasks) and names.keys() <= tx.documents.overwriters(lease)


def _replaced(lease: Lease, tasks: Sequence[DocumentTask]) -> dict[DocumentId, str]:
    return {
        document_id_of(lease.bank_id, task.external_id): task.external_id
        for task in tasks
        if task.mode == "replace" and task.external_id is not None and not task.is_again
    }


def _whole(bank_id: BankId, task: DocumentTask, stored: Mapping[DocumentId, StoredDocument]) -> DocumentTask:
    """The task; one that makes a document again gets its parts from what is stored, if its text is."""
    if not task.is_again or task.external_id is None:
        return task
    found = stored.get(document_id_of(bank_id, task.external_id))
    if found is None or found.text is None:
        return task
    return replace(task, parts=parts_again(found.text, found.parts))
