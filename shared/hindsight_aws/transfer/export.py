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
from hindsight_aws.errors import TooLarge
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


def export(
    ports: TransferPorts, tenant_id: TenantId, bank_id: BankId, task: TransferTask, give_up_at: float
) -> JsonObject:
    """Puts the archive under the task's key, in place of what was there; says what it holds.

    Guarantees: everything in it is of one moment.  Raises: TooLarge when the archive would be, or when it cannot be
    written before `give_up_at`; FilesUnavailable, DatabaseUnavailable.
    """
    at_most = ports.settings.hindsight_transfer_max_mb * MEGABYTE
    with tempfile.TemporaryFile() as file:
        manifest = _write(ports, tenant_id, bank_id, task, ArchiveWriter(file, at_most), give_up_at)
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
    give_up_at: float,
) -> Manifest:
    with ports.store.snapshot(tenant_id) as tx:
        bank = tx.banks.by_id(bank_id)
        if bank is None:
            raise bank_not_found(str(bank_id))
        wanted = RowsWanted(
            None if task.documents is None else tuple(document_id_of(bank_id, name) for name in task.documents),
            with_whole="whole" in task.parts,
            with_history="history" in task.parts,
        )
        for kind in KINDS:
            if kind.parts <= task.parts:
                lines = _in_time(tx.transfers.read(bank_id, kind.name, wanted), give_up_at)
                writer.add(kind, _shown(kind, lines, task.parts))
    manifest = Manifest(bank.external_id, task.parts, bank.embedding_model, DIMENSIONS)
    return writer.close(manifest, ports.clock.now().isoformat())


def _shown(kind: Kind, lines: Iterable[str], parts: frozenset[Part]) -> Iterable[str]:
    """The lines, of a kind that tells of the data too without what it tells where that is not carried."""
    if not kind.bare or "data" in parts:
        return lines
    return (json.dumps({**json.loads(line), **kind.bare}, ensure_ascii=False) for line in lines)


def _in_time(lines: Iterable[str], give_up_at: float) -> Iterator[str]:
    for line in lines:
        if time.monotonic() > give_up_at:
            raise TooLarge("the bank is too large to be exported within the time that the function may run")
        yield line
