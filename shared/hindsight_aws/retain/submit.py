"""The way in for work that a worker does later: written down as operations, then somebody is woken.

Called by the API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4

from hindsight_aws.access import operations_subject, require, require_bank
from hindsight_aws.errors import Conflict, InvalidRequest
from hindsight_aws.faults import reached
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import BATCH_RETAIN, RETAIN, NewOperation, Operation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.watermark import watermark
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import points
from hindsight_aws.retain.admit import Admitted, admit
from hindsight_aws.retain.intake import limits
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.accepted import DocumentTask, to_json
from hindsight_aws.retain.intake.guard import guarded
from hindsight_aws.retain.intake.packing import pack_documents, tokens_of
from hindsight_aws.retain.intake.requests import RetainRequest, RetainResult
from hindsight_aws.retain.outcome import going_on, screening_of
from hindsight_aws.retain.plan import named_documents
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.screening import BUILT_IN, NOTHING_FOUND, Detector, events, ledger_lines


@dataclass(frozen=True, slots=True)
class _Written:
    """A parent operation that is written down, and the children of it that are to be woken."""

    operation_id: OperationId
    written_at: datetime
    items_count: int
    to_wake: list[OperationId]


def submit(ports: RetainPorts, principal: Principal, bank: str, request: RetainRequest) -> RetainResult:
    """Writes the work as operations, wakes a worker and answers at once.

    Each strategy among the items makes a parent operation, its items packed into children by size.

    Guarantees: with an `operation_id` the same work is written once, however often it is submitted, and answered the
    same, whatever the items of a repetition hold.

    Raises: InvalidRequest and its kinds, Conflict for an `operation_id` used elsewhere, AccessDenied, NotFound,
    DatabaseUnavailable.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    tasks = accept(request, ports.clock.now(), may_fold=False)
    strategies = len(_by_strategy(tasks))
    if request.operation_id is not None and strategies > 1:
        raise InvalidRequest("operation_id cannot be used with items of several strategies")
    if strategies > limits.MOST_STRATEGIES:
        raise InvalidRequest(f"items: at most {limits.MOST_STRATEGIES} strategies in one async request")
    detectors = guarded(ports, principal, bank, tasks)
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        before = earlier(tx, principal, found, request.operation_id)
        written: list[_Written] = []
        admitted = None if before else admit(tx, ports.settings, principal, found, tasks, detectors)
        if admitted is not None:
            written, before = _write_all(tx, ports, principal, found, admitted, request.operation_id)
        woken = [child for each in written for child in each.to_wake] if before is None else _open_under(tx, before)
    reached(points.AFTER_SUBMIT)
    if woken:
        ports.wakeups.wake_operations(principal.tenant_id, woken)
    return _first_answer(bank, written, admitted) if before is None else going_on(bank, before)


def submit_within(
    tx: Transaction,
    ports: RetainPorts,
    principal: Principal,
    bank: Bank,
    request: RetainRequest,
    now: datetime,
    *,
    detectors: Mapping[str, Detector] = BUILT_IN,
) -> tuple[OperationId, list[OperationId]]:
    """The same for one item and within the caller's transaction: the parent, and the operations to wake after it.

    `now` is when the item was handed in, `detectors` what screening's guard gave.  Raises: as `submit`, but for the
    principal's rights to the bank, which the caller has checked.
    """
    before = earlier(tx, principal, bank, request.operation_id)
    if before is None:
        admitted = admit(tx, ports.settings, principal, bank, accept(request, now, may_fold=False), detectors)
        written, before = _write_all(tx, ports, principal, bank, admitted, request.operation_id)
        if before is None:
            return written[0].operation_id, written[0].to_wake
    return before.operation_id, _open_under(tx, before)


def earlier(tx: Transaction, principal: Principal, bank: Bank, operation_id: UUID | None) -> Operation | None:
    """The retain that the caller's id already stands for, sync or async; None when the id is free, or none was given.

    Raises: Conflict when it stands for something else: of another bank or kind, a part of a retain, or, to a caller
    who sees part of the bank, somebody else's.
    """
    if operation_id is None:
        return None
    before = tx.operations.find(OperationId(operation_id))
    if before is None:
        return None
    is_retain = before.kind == BATCH_RETAIN or (before.kind == RETAIN and before.parent_id is None)
    is_seen = operations_subject(principal) in (None, before.subject)
    if before.bank_id != bank.bank_id or not is_retain or not is_seen:
        raise Conflict(f"operation_id {operation_id} is already in use")
    return before


def new_operation(
    operation_id: OperationId,
    principal: Principal,
    bank: Bank,
    tasks: Sequence[DocumentTask],
) -> NewOperation:
    """The `retain` operation that does these documents."""
    names = named_documents(bank.bank_id, tasks)
    return NewOperation(
        operation_id=operation_id,
        kind=RETAIN,
        subject=principal.subject,
        payload=to_json(tasks),
        items_count=sum(len(task.parts) for task in tasks),
        document_external_id=next(iter(names.values())) if len(names) == len(tasks) == 1 else None,
        document_ids=tuple(names),
    )


def _write_all(
    tx: Transaction,
    ports: RetainPorts,
    principal: Principal,
    bank: Bank,
    admitted: Admitted,
    operation_id: UUID | None,
) -> tuple[list[_Written], Operation | None]:
    """Writes a parent for each strategy, or says which retain somebody else wrote under this id a moment ago."""
    told = admitted
    written: list[_Written] = []
    for group in _by_strategy(admitted.tasks):
        made = _write(tx, ports, principal, bank, replace(told, tasks=group), operation_id)
        if made is None:
            return [], earlier(tx, principal, bank, operation_id)
        written.append(made)
        told = Admitted([], NOTHING_FOUND)
    return written, None


def _write(
    tx: Transaction,
    ports: RetainPorts,
    principal: Principal,
    bank: Bank,
    admitted: Admitted,
    operation_id: UUID | None,
) -> _Written | None:
    """Writes a parent with its children; None when its id is taken."""
    packs = pack_documents(admitted.tasks, ports.settings.hindsight_api_retain_batch_tokens)
    items = sum(len(task.parts) for task in admitted.tasks)
    parent = NewOperation(
        operation_id=OperationId(operation_id or uuid4()),
        kind=BATCH_RETAIN,
        subject=principal.subject,
        items_count=items,
        result={
            "is_parent": True,
            "items_count": items,
            "total_tokens": sum(tokens_of(task) for task in admitted.tasks),
            "num_sub_batches": len(packs),
            **admitted.as_result(),
        },
    )
    written_at = tx.operations.add_if_new(bank.bank_id, parent)
    if written_at is None:
        return None
    children = [
        replace(
            new_operation(OperationId(uuid4()), principal, bank, pack),
            parent_id=parent.operation_id,
            result={"sub_batch_index": place},
        )
        for place, pack in enumerate(packs)
    ]
    tx.operations.add(bank.bank_id, children)
    tx.usage.record(ledger_lines(admitted.screening, principal.subject, bank.bank_id, parent.operation_id))
    tx.webhooks.tell(bank.bank_id, events(admitted.screening, parent.operation_id))
    return _Written(parent.operation_id, written_at, items, [child.operation_id for child in children])


def _open_under(tx: Transaction, before: Operation) -> list[OperationId]:
    """Whom to wake again for a retain that is sent again: it harms nothing and may help."""
    if not before.is_open:
        return []
    return tx.operations.children(before.operation_id) or [before.operation_id]


def _first_answer(bank: str, written: Sequence[_Written], admitted: Admitted | None) -> RetainResult:
    ids = tuple(each.operation_id for each in written)
    return RetainResult(
        bank,
        sum(each.items_count for each in written),
        True,
        ids[0],
        ids if len(ids) > 1 else None,
        watermark=watermark(written[0].written_at, ids).encode(),
        screening=None if admitted is None else screening_of(admitted.as_result()),
        warnings=() if admitted is None else admitted.warnings,
    )


def _by_strategy(tasks: Sequence[DocumentTask]) -> list[list[DocumentTask]]:
    groups: dict[str | None, list[DocumentTask]] = {}
    for task in tasks:
        groups.setdefault(task.parts[0].strategy, []).append(task)
    return list(groups.values())
