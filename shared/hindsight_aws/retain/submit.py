"""The way in for work that a worker does later: written down as operations, then somebody is woken.

Called by the API and by tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from hindsight_aws.access import require, require_bank
from hindsight_aws.errors import Conflict, InvalidRequest
from hindsight_aws.faults import reached
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import BATCH_RETAIN, RETAIN, NewOperation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import points
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.accepted import DocumentTask, to_json
from hindsight_aws.retain.intake.admit import admit
from hindsight_aws.retain.intake.packing import pack_documents, tokens_of
from hindsight_aws.retain.intake.requests import RetainRequest, RetainResult
from hindsight_aws.retain.plan import named_documents
from hindsight_aws.retain.ports import RetainPorts


def submit(ports: RetainPorts, principal: Principal, bank: str, request: RetainRequest) -> RetainResult:
    """Writes the work as operations, wakes a worker and answers at once.

    Each strategy among the items makes a parent operation, its items packed into children by size.

    Guarantees: with an `operation_id` the same work is written once, however often it is submitted.

    Raises: InvalidRequest and its kinds, Conflict for an `operation_id` used elsewhere, AccessDenied, NotFound,
    DatabaseUnavailable.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    tasks = accept(request, ports.clock.now(), may_fold=False)
    if not tasks:
        return RetainResult(bank, 0, True)
    groups = _by_strategy(tasks)
    if request.operation_id is not None and len(groups) > 1:
        raise InvalidRequest("operation_id cannot be used with items of several strategies")
    parents: list[OperationId] = []
    to_wake: list[OperationId] = []
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        for group in groups:
            parent, children = _write(tx, ports, principal, found, group, request)
            parents.append(parent)
            to_wake += children
    reached(points.AFTER_SUBMIT)
    if to_wake:
        ports.wakeups.wake_operations(principal.tenant_id, to_wake)
    many = tuple(parents) if len(parents) > 1 else None
    return RetainResult(bank, len(request.items), True, parents[0], many)


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


def _write(
    tx: Transaction,
    ports: RetainPorts,
    principal: Principal,
    bank: Bank,
    tasks: Sequence[DocumentTask],
    request: RetainRequest,
) -> tuple[OperationId, list[OperationId]]:
    """Writes a parent with its children, unless the caller's id says they are there already."""
    admitted = admit(tx, ports.settings, principal, bank, tasks)
    packs = pack_documents(admitted)
    parent = NewOperation(
        operation_id=OperationId(request.operation_id or uuid4()),
        kind=BATCH_RETAIN,
        subject=principal.subject,
        items_count=sum(len(task.parts) for task in admitted),
        result={
            "items_count": sum(len(task.parts) for task in admitted),
            "total_tokens": sum(tokens_of(task) for task in admitted),
            "num_sub_batches": len(packs),
        },
    )
    if not tx.operations.add_if_new(bank.bank_id, parent):
        return _again(tx, bank, parent.operation_id)
    children = [
        replace(
            new_operation(OperationId(uuid4()), principal, bank, pack),
            parent_id=parent.operation_id,
            result={"sub_batch_index": place},
        )
        for place, pack in enumerate(packs)
    ]
    tx.operations.add(bank.bank_id, children)
    return parent.operation_id, [child.operation_id for child in children]


def _again(tx: Transaction, bank: Bank, operation_id: OperationId) -> tuple[OperationId, list[OperationId]]:
    """The same answer as the first time; its children are woken again, which harms nothing and may help."""
    before = tx.operations.find(operation_id)
    if before is None or before.bank_id != bank.bank_id or before.kind != BATCH_RETAIN:
        raise Conflict(f"operation_id {operation_id} is already in use")
    is_open = before.status in ("pending", "processing")
    return operation_id, tx.operations.children(operation_id) if is_open else []


def _by_strategy(tasks: Sequence[DocumentTask]) -> list[list[DocumentTask]]:
    groups: dict[str | None, list[DocumentTask]] = {}
    for task in tasks:
        groups.setdefault(task.parts[0].strategy, []).append(task)
    return list(groups.values())
