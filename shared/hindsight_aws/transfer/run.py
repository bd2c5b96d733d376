"""Does a transfer, or a part of it: lease, work outside of transactions or batch by batch, outcome in one commit.

Called by the transfer job; calls export, restore, merge and noted.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from hindsight_aws.errors import (
    PASSING_FAULTS,
    ArchiveRefused,
    DatabaseRefused,
    FilesUnavailable,
    HindsightError,
    InvalidRequest,
    LimitReached,
    ModelError,
    VectorsReplaced,
    WorkCrashed,
    WorkDeferred,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.operation import CLONE_BANK, EXPORTS, IMPORT_DOCUMENTS, TRANSFERS, Lease
from hindsight_aws.operations.attempt import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    Attempt,
    AttemptState,
    backoff,
    defer,
    fail,
    fail_unreadable,
)
from hindsight_aws.ports.store import Transaction
from hindsight_aws.ports.transfers import TransferPlace
from hindsight_aws.transfer import points
from hindsight_aws.transfer.export import export
from hindsight_aws.transfer.merge import Merging
from hindsight_aws.transfer.noted import note_made
from hindsight_aws.transfer.ports import MEGABYTE, TransferPorts
from hindsight_aws.transfer.reader import ArchiveReader
from hindsight_aws.transfer.restore import Restoring, name_is_taken
from hindsight_aws.transfer.task import TransferTask, from_json

_log = logging.getLogger(__name__)

_MARGIN_S: Final = 15.0
"""For how much longer an export's lease is held than the export may take."""

_PARKED_FOR_S: Final = 300.0
"""An import that has to pay for vectors looks so often whether its tenant may: a limit may be raised at any time."""


@dataclass(frozen=True, slots=True)
class _Leased:
    lease: Lease
    task: TransferTask
    place: TransferPlace


def run_transfer(ports: TransferPorts, tenant_id: TenantId, operation_id: OperationId, seconds: float) -> Attempt:
    """One attempt at the operation, taking about `seconds` at most.

    Guarantees: at any moment one attempt at most can commit; what an attempt has committed of an import no other does
    again; of an import that fails nothing stays.  Raises: DatabaseUnavailable; the rows then say what is left to do.
    """
    give_up_at = time.monotonic() + seconds
    with ports.store.transaction(tenant_id) as tx:
        operation = tx.operations.find(operation_id)
        if operation is None or operation.kind not in TRANSFERS or not operation.is_open:
            return Attempt("absent")
        leased = _begin(tx, operation_id, operation.kind, _lease_seconds(ports, operation.kind, seconds))
    if not isinstance(leased, _Leased):
        return Attempt(leased)
    reached(points.AFTER_LEASE)
    return _outcome(ports, tenant_id, leased, give_up_at)


def _begin(tx: Transaction, operation_id: OperationId, kind: str, seconds: float) -> _Leased | AttemptState:
    lease = tx.operations.lease(operation_id, seconds, kind)
    if lease is None:
        return "busy"
    try:
        task = from_json(lease.payload)
    except (KeyError, TypeError) as unreadable:
        fail_unreadable(tx, lease, unreadable)
        return "failed"
    return _Leased(lease, task, tx.transfers.begin(lease, task.archive_key))


def _lease_seconds(ports: TransferPorts, kind: str, seconds: float) -> float:
    """An export holds one transaction open for all of its time, in which no lease can be renewed."""
    if kind in EXPORTS or kind == CLONE_BANK:
        return max(seconds + _MARGIN_S, ports.settings.hindsight_transfer_lease_seconds)
    return ports.settings.hindsight_transfer_lease_seconds


def _outcome(ports: TransferPorts, tenant_id: TenantId, leased: _Leased, give_up_at: float) -> Attempt:
    try:
        if leased.lease.attempts > ports.settings.hindsight_transfer_max_attempts:
            raise WorkCrashed(_given_up(leased.lease))
        is_done = _work(ports, tenant_id, leased, give_up_at)
        if not is_done:
            return defer(ports.store, tenant_id, leased.lease, WorkDeferred("time is up; another message goes on"))
    except WorkSuperseded as superseded:
        _drop_unwanted(ports, tenant_id, leased)
        return Attempt("absent", superseded)
    except VectorsReplaced as early:
        return _wait_for_vectors(ports, tenant_id, leased, early)
    except PASSING_FAULTS as passing:
        return _put_off(ports, tenant_id, leased, passing)
    except LimitReached as limit:
        return defer(ports.store, tenant_id, leased.lease, limit, _PARKED_FOR_S)
    except WorkDeferred as deferred:
        return defer(ports.store, tenant_id, leased.lease, deferred, FIRST_WAIT_S)
    except (InvalidRequest, DatabaseRefused, ModelError, WorkCrashed) as final:
        return _fail(ports, tenant_id, leased, final)
    reached(points.AFTER_END)
    return Attempt("completed")


def _given_up(lease: Lease) -> str:
    said = f"given up after {lease.attempts - 1} attempts that did not come to an end"
    if lease.kind not in EXPORTS:
        return said
    return f"{said}; an export begins anew each time: a smaller one may pass, without history, or of some documents"


def _work(ports: TransferPorts, tenant_id: TenantId, leased: _Leased, give_up_at: float) -> bool:
    """Does what the operation is about; False when the time was up before its end."""
    lease, task = leased.lease, leased.task
    if lease.kind in EXPORTS:
        held = export(ports, tenant_id, lease.bank_id, task, give_up_at)
        offered = replace(leased.place, is_offered=True)
        reached(points.BEFORE_END)
        with ports.store.transaction(tenant_id) as tx:
            tx.operations.renew(lease, ports.settings.hindsight_transfer_lease_seconds)
            tx.transfers.move(lease, offered)
            named = {"storage_key": task.archive_key, "filename": f"{_stem(tx, lease)}.zip"}
            tx.operations.complete(lease, {**held, **named})
        return True
    place = leased.place
    if lease.kind == CLONE_BANK and place.member is None and "archived" not in place.counts:
        place = _archived(ports, tenant_id, leased, give_up_at)
    with _opened(ports, task) as reader:
        if lease.kind == IMPORT_DOCUMENTS:
            return Merging(ports, tenant_id, lease, task, reader, place, give_up_at).run()
        return _restore(Restoring(ports, tenant_id, lease, task, reader, place, give_up_at))


def _archived(ports: TransferPorts, tenant_id: TenantId, leased: _Leased, give_up_at: float) -> TransferPlace:
    """A clone's first half: the archive, and a note that it is there."""
    export(ports, tenant_id, leased.lease.bank_id, leased.task, give_up_at)
    place = replace(leased.place, counts={"archived": 1})
    with ports.store.transaction(tenant_id) as tx:
        tx.operations.renew(leased.lease, ports.settings.hindsight_transfer_lease_seconds)
        tx.transfers.move(leased.lease, place)
    return place


@contextmanager
def _opened(ports: TransferPorts, task: TransferTask) -> Iterator[ArchiveReader]:
    """The archive, checked as a whole before a row of it is written.  Raises: ArchiveRefused, FilesUnavailable."""
    with tempfile.TemporaryFile() as file:
        if not ports.files.fetch(task.archive_key, file, ports.settings.hindsight_transfer_max_mb * MEGABYTE):
            raise ArchiveRefused("the archive has expired, or is larger than this deployment takes")
        reader = ArchiveReader(file, ports.settings.hindsight_transfer_max_unpacked_mb * MEGABYTE)
        reader.verify()
        yield reader


def _restore(restoring: Restoring) -> bool:
    ports, lease, task = restoring.ports, restoring.lease, restoring.task
    manifest = restoring.reader.manifest
    if "data" in manifest.parts and "whole" not in manifest.parts:
        raise ArchiveRefused("the archive holds documents alone: import them with mode=merge")
    bank = restoring.end()
    restoring.learn()
    if not restoring.run():
        return False
    counts = {name: count for name, count in restoring.place.counts.items() if name != "archived"}
    reached(points.BEFORE_REVEAL)
    with ports.store.transaction(restoring.tenant_id) as tx:
        tx.operations.renew(lease, ports.settings.hindsight_transfer_lease_seconds)
        tx.transfers.make_bank(lease, restoring.bank_id, restoring.embedder.model)
        if not tx.transfers.reveal(restoring.bank_id, bank):
            raise name_is_taken(bank.external_id)
        note_made(tx, ports.settings, lease, restoring.bank_id, bank, ports.clock.now())
        tx.operations.complete(lease, {"target_bank_id": bank.external_id, "counts": counts})
        reached(points.BEFORE_END)
    if lease.kind == CLONE_BANK:
        drop_archive(ports, task.archive_key)
    return True


def _drop_unwanted(ports: TransferPorts, tenant_id: TenantId, leased: _Leased) -> None:
    """Deletes what was archived for an operation that somebody ended meanwhile: nobody would ever ask for it."""
    if leased.lease.kind not in EXPORTS | {CLONE_BANK}:
        return
    with ports.store.transaction(tenant_id) as tx:
        operation = tx.operations.find(leased.lease.operation_id)
    if operation is None or operation.status == "cancelled":
        drop_archive(ports, leased.task.archive_key)


def drop_archive(ports: TransferPorts, key: str) -> None:
    """Deletes the archive; one that cannot be deleted now expires."""
    try:
        ports.files.delete(key)
    except FilesUnavailable as left:
        _log.warning("the archive under %s stays until it expires: %s", key, left)


def _stem(tx: Transaction, lease: Lease) -> str:
    """What the file is called, of characters that every system and every header takes."""
    bank = tx.banks.by_id(lease.bank_id)
    name = (
        "" if bank is None else "".join(char if char.isascii() and char.isalnum() else "-" for char in bank.external_id)
    )
    return f"{name.strip('-')[:60] or 'bank'}-{lease.operation_id}"


def _wait_for_vectors(ports: TransferPorts, tenant_id: TenantId, leased: _Leased, early: VectorsReplaced) -> Attempt:
    """Defers until the bank's vectors may be written again, which is no attempt; the next one goes by their model."""
    left = 0.0 if early.until is None else (early.until - ports.clock.now()).total_seconds()
    return defer(ports.store, tenant_id, leased.lease, early, min(max(left, FIRST_WAIT_S), LONGEST_WAIT_S))


def _put_off(ports: TransferPorts, tenant_id: TenantId, leased: _Leased, passing: HindsightError) -> Attempt:
    """Defers; a fault counts as an attempt, of which the last one fails."""
    lease = leased.lease
    if lease.attempts >= ports.settings.hindsight_transfer_max_attempts:
        return _fail(ports, tenant_id, leased, passing)
    return defer(ports.store, tenant_id, lease, passing, backoff(lease.attempts), counts=True)


def _fail(ports: TransferPorts, tenant_id: TenantId, leased: _Leased, final: HindsightError) -> Attempt:
    """Ends the operation as failed; what it made of a bank goes, its archive stays until it expires, for a retry."""
    lease = leased.lease
    return fail(
        ports.store,
        tenant_id,
        lease,
        final,
        also=lambda tx: tx.transfers.abandon(lease.bank_id, lease.operation_id),
    )
