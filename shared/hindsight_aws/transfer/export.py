"""Writes a bank into an archive: one snapshot of the database, read row by row, and one object in the bucket.

Called by run.py.  A snapshot ends with its transaction, so an export whose worker died begins anew.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Final

from hindsight_aws.access import bank_not_found
from hindsight_aws.errors import TooLarge, WorkDeferred
from hindsight_aws.faults import reached
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.transfers import RowsWanted
from hindsight_aws.transfer import points
from hindsight_aws.transfer.kinds import KINDS, Kind, Part
from hindsight_aws.transfer.manifest import DIMENSIONS, Manifest
from hindsight_aws.transfer.ports import MEGABYTE, TransferPorts
from hindsight_aws.transfer.task import TransferTask
from hindsight_aws.transfer.writer import ArchiveWriter

ZIP: Final = "application/zip"
_FOR_THE_UPLOAD: Final = 0.05
"""What share of the time is left for bringing the archive to the bucket: 44 s of a function's 15 minutes."""


def export(
    ports: TransferPorts, tenant_id: TenantId, bank_id: BankId, task: TransferTask, give_up_at: float
) -> JsonObject:
    """Puts the archive under the task's key, in place of what was there; says what it holds.

    Guarantees: everything in it is of one moment.  Raises: TooLarge when the archive would be, or when it cannot be
    written and brought to the bucket before `give_up_at`; FilesUnavailable, DatabaseUnavailable.
    """
    write_until = give_up_at - _FOR_THE_UPLOAD * max(give_up_at - time.monotonic(), 0.0)
    at_most = ports.settings.hindsight_transfer_max_mb * MEGABYTE
    with tempfile.TemporaryFile() as file:
        with ArchiveWriter(file, at_most) as writer:
            manifest = _write(ports, tenant_id, bank_id, task, writer, write_until)
        size = file.tell()
        reached(points.AFTER_ARCHIVE)
        ports.files.put_file(task.archive_key, file, ZIP)
    counts: JsonObject = {
        kind.name: manifest.members[kind.member].rows for kind in KINDS if kind.member in manifest.members
    }
    return {"byte_size": size, "counts": counts}


def _write(
    ports: TransferPorts,
    tenant_id: TenantId,
    bank_id: BankId,
    task: TransferTask,
    writer: ArchiveWriter,
    write_until: float,
) -> Manifest:
    with ports.store.snapshot(tenant_id) as tx:
        bank = tx.banks.by_id(bank_id)
        if bank is None:
            raise bank_not_found(str(bank_id))
        if tx.vectors.is_moving(bank_id):
            raise WorkDeferred("the bank's vectors are just being put in place")
        wanted = RowsWanted(
            None if task.documents is None else tuple(document_id_of(bank_id, name) for name in task.documents),
            with_whole="whole" in task.parts,
            with_history="history" in task.parts,
        )
        for kind in KINDS:
            if kind.parts <= task.parts:
                lines = _in_time(tx.transfers.read(bank_id, kind.name, wanted), write_until)
                writer.add(kind, _shown(kind, lines, task.parts))
    manifest = Manifest(bank.external_id, task.parts, bank.embedding_model, DIMENSIONS)
    return writer.close(manifest, ports.clock.now().isoformat())


def _shown(kind: Kind, lines: Iterable[str], parts: frozenset[Part]) -> Iterable[str]:
    """The lines, of a kind that tells of the data too without what it tells where that is not carried."""
    if not kind.bare or "data" in parts:
        return lines
    return (json.dumps({**json.loads(line), **kind.bare}, ensure_ascii=False) for line in lines)


def _in_time(lines: Iterable[str], write_until: float) -> Iterator[str]:
    for line in lines:
        if time.monotonic() > write_until:
            raise TooLarge(
                "the bank is too large to be exported within the time that the function may run; export it in parts: "
                "without history, or some documents at a time"
            )
        yield line
