"""Does a conversion, once: lease, read and convert outside any transaction, then retain and outcome in one commit.

Called by the convert job; calls retain's intake and the ports.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.errors import (
    PASSING_FAULTS,
    AccessDenied,
    FilesUnavailable,
    FileUnreadable,
    HindsightError,
    InvalidRequest,
    WorkDeferred,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.files import points
from hindsight_aws.files.ports import ConversionPorts
from hindsight_aws.files.requests import kept_key_of
from hindsight_aws.files.task import ConversionTask, from_json
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import DocumentId, OperationId, TenantId, derived_uuid
from hindsight_aws.model.operation import FILE_CONVERT_RETAIN, Lease
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.attempt import Attempt, backoff, defer, fail, fail_unreadable
from hindsight_aws.ports.converter import FileToRead
from hindsight_aws.ports.kept_files import KeptFile
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import RetainRequest, submit_within
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.guard import guarded
from hindsight_aws.text.sanitise import clean, is_blank

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Leased:
    lease: Lease
    bank: Bank
    task: ConversionTask


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """What is written down of the operation cannot be read, so it has failed; who waited for its document is woken."""

    to_wake: tuple[OperationId, ...]


def run_conversion(ports: ConversionPorts, tenant_id: TenantId, operation_id: OperationId, seconds: float) -> Attempt:
    """One attempt at the operation, taking about `seconds` at most.

    Guarantees: at any moment one attempt at most can commit, so that a file becomes one retain however often this is
    called.  Raises: DatabaseUnavailable; the rows then say what is left to do.
    """
    give_up_at = time.monotonic() + seconds
    with ports.retain.store.transaction(tenant_id) as tx:
        leased = _begin(tx, operation_id, ports.retain.settings.hindsight_convert_lease_seconds)
        operation = None if leased is not None else tx.operations.find(operation_id)
    if isinstance(leased, _Unreadable):
        ports.retain.wakeups.wake_operations(tenant_id, leased.to_wake)
        return Attempt("absent")
    if leased is None:
        is_open = operation is not None and operation.status in ("pending", "processing")
        return Attempt("busy" if is_open else "absent")
    reached(points.AFTER_LEASE)
    try:
        _check_attempts(ports, leased)
        body = _body(ports, leased.task)
        text = _text(ports, leased.task, body, give_up_at)
        reached(points.AFTER_CONVERT)
        kept = _keep(ports, tenant_id, leased, body)
        to_wake = _commit(ports, tenant_id, leased, text, kept)
    except (WorkDeferred, FilesUnavailable) as passing:
        return _put_off(ports, tenant_id, leased, passing)
    except WorkSuperseded as superseded:
        return Attempt("absent", error=superseded)
    except (FileUnreadable, InvalidRequest, AccessDenied) as final:
        return _fail(ports, tenant_id, leased, final)
    reached(points.AFTER_COMMIT)
    ports.retain.wakeups.wake_operations(tenant_id, to_wake)
    _drop(ports, leased.task)
    return Attempt("completed")


def _begin(tx: Transaction, operation_id: OperationId, lease_s: float) -> _Leased | _Unreadable | None:
    """The operation, leased with its document: files that name one document are converted one after the other."""
    lease = tx.operations.lease(operation_id, lease_s, FILE_CONVERT_RETAIN)
    bank = None if lease is None else tx.banks.by_id(lease.bank_id)
    if lease is None or bank is None:
        return None
    try:
        task = from_json(lease.payload)
    except (AttributeError, KeyError, TypeError, ValueError) as unreadable:
        fail_unreadable(tx, lease, unreadable)
        return _Unreadable(tuple(tx.operations.waiting(lease)))
    if not tx.operations.lease_documents(lease, _documents(bank, task), lease_s):
        return None
    return _Leased(lease, bank, task)


def _documents(bank: Bank, task: ConversionTask) -> dict[DocumentId, str]:
    name = task.options.document_id or ""
    return {document_id_of(bank.bank_id, name): name}


def _check_attempts(ports: ConversionPorts, leased: _Leased) -> None:
    most = ports.retain.settings.hindsight_api_retain_max_attempts
    if leased.lease.attempts > most:
        raise FileUnreadable(leased.task.name, f"was given up after {most} attempts that did not come to an end")


def _body(ports: ConversionPorts, task: ConversionTask) -> bytes:
    """The file's bytes, of which there are some."""
    body = ports.files.get(task.key, task.size)
    if body is None:
        raise FileUnreadable(task.name, "is not stored any more: send it again")
    if not body:
        raise FileUnreadable(task.name, "is empty")
    return body


def _text(ports: ConversionPorts, task: ConversionTask, body: bytes, give_up_at: float) -> str:
    """The file's text, cleaned and not blank."""
    seconds = min(ports.retain.settings.hindsight_convert_seconds, give_up_at - time.monotonic())
    text = clean(ports.converter.convert(FileToRead(task.name, task.content_type, body), seconds))
    if is_blank(text):
        raise FileUnreadable(task.name, "holds no text that can be read (of scans and pictures none is)")
    return text


def _keep(ports: ConversionPorts, tenant_id: TenantId, leased: _Leased, body: bytes) -> KeptFile | None:
    """Stores the bytes where they last as long as the document, if the server keeps files; its row comes first.

    What no document comes to hold, of an attempt that died or a text that was refused, the sweep finds by the row.
    Raises: WorkSuperseded when the operation is over, maybe with its bank: an erasure no longer looks for files then.
    """
    if ports.retain.settings.hindsight_api_file_delete_after_retain:
        return None
    task, bank_id, file_id = leased.task, leased.bank.bank_id, uuid4()
    kept = KeptFile(
        file_id=file_id,
        key=kept_key_of(tenant_id, bank_id, file_id),
        filename=task.name,
        content_type=task.content_type,
        size=len(body),
        operation_id=leased.lease.operation_id,
        retain_operation_id=_retain_id(leased.lease),
    )
    with ports.retain.store.transaction(tenant_id) as tx:
        tx.operations.renew(leased.lease, ports.retain.settings.hindsight_convert_lease_seconds)
        tx.kept_files.add(bank_id, kept)
    ports.files.put(kept.key, body, task.content_type)
    reached(points.AFTER_KEEP)
    return kept


def _retain_id(lease: Lease) -> OperationId:
    return OperationId(derived_uuid("retain of a converted file", lease.operation_id))


def _commit(
    ports: ConversionPorts, tenant_id: TenantId, leased: _Leased, text: str, kept: KeptFile | None
) -> list[OperationId]:
    """Writes the retain of the text and ends the conversion, or neither; says whom to wake.

    The rights to write were checked when the file came in.
    """
    lease, task = leased.lease, leased.task
    principal = Principal(tenant_id, lease.subject)
    item = task.item(text, None if kept is None else kept.file_id)
    request = RetainRequest((item,), operation_id=_retain_id(lease))
    try:
        tasks = accept(request, lease.created_at, may_fold=False)
        detectors = guarded(ports.retain, principal, leased.bank.external_id, tasks)
        with ports.retain.store.transaction(tenant_id) as tx:
            tx.operations.renew(lease, ports.retain.settings.hindsight_convert_lease_seconds)
            parent, children = submit_within(
                tx, ports.retain, principal, leased.bank, request, lease.created_at, detectors=detectors
            )
            found = {"retain_operation_id": str(parent), "document_ids": [task.options.document_id]}
            found |= {} if kept is None else {"kept_file": kept.key}
            tx.operations.complete(lease, {**found, "characters": len(text)})
            waiting = tx.operations.waiting(lease)
            reached(points.BEFORE_COMMIT)
    except InvalidRequest as refused:
        raise FileUnreadable(task.name, f"gave a text that was refused: {refused}") from refused
    return list(dict.fromkeys([*children, *waiting]))


def _put_off(ports: ConversionPorts, tenant_id: TenantId, leased: _Leased, passing: HindsightError) -> Attempt:
    """Defers; a fault of the store counts as an attempt, of which the last one fails."""
    lease = leased.lease
    if not isinstance(passing, PASSING_FAULTS):
        return defer(ports.retain.store, tenant_id, lease, passing)
    if lease.attempts >= ports.retain.settings.hindsight_api_retain_max_attempts:
        return _fail(ports, tenant_id, leased, passing)
    return defer(ports.retain.store, tenant_id, lease, passing, backoff(lease.attempts), counts=True)


def _fail(ports: ConversionPorts, tenant_id: TenantId, leased: _Leased, final: HindsightError) -> Attempt:
    """Ends the operation as failed, naming the file; its bytes stay until they expire: it can be tried again."""
    waiting: list[OperationId] = []

    def look(tx: Transaction) -> None:
        waiting.extend(tx.operations.waiting(leased.lease))

    ended = fail(ports.retain.store, tenant_id, leased.lease, final, also=look)
    ports.retain.wakeups.wake_operations(tenant_id, waiting)
    return ended


def _drop(ports: ConversionPorts, task: ConversionTask) -> None:
    try:
        ports.files.delete(task.key)
    except FilesUnavailable as left:
        _log.warning("the bytes under %s stay until they expire: %s", task.key, left)
