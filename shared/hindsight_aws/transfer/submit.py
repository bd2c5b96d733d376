"""Asks for transfers: checks what can be seen at once, writes the operation down, and wakes a worker.

Called by the API; calls the ports.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID, uuid4

from hindsight_aws.access import (
    bank_not_found,
    operations_subject,
    require,
    require_bank,
    require_whole_bank,
    sees_bank,
)
from hindsight_aws.errors import ArchiveRefused, Conflict, InvalidRequest, NotFound
from hindsight_aws.model.bank import Bank, check_new_bank_id
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import (
    CLONE_BANK,
    EXPORT_BANK,
    EXPORT_DOCUMENTS,
    IMPORT_BANK,
    IMPORT_DOCUMENTS,
    NewOperation,
)
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Transaction
from hindsight_aws.transfer.enabled import require_export, require_import
from hindsight_aws.transfer.kinds import Part
from hindsight_aws.transfer.manifest import Manifest
from hindsight_aws.transfer.ports import MEGABYTE, TransferPorts
from hindsight_aws.transfer.reader import ArchiveReader
from hindsight_aws.transfer.task import CONFLICTS, OnConflict, TransferTask, archive_key_of, to_json

ZIP: Final = "application/zip"
_WHOLE: Final[frozenset[Part]] = frozenset({"data", "whole", "pages", "config", "history"})


@dataclass(frozen=True, slots=True)
class Carried:
    """What a caller wants carried."""

    data: bool = True
    config: bool = True
    history: bool = False

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that these are.  Raises: InvalidRequest when they are none."""
        if not (self.data or self.config or self.history):
            raise InvalidRequest("include_data, include_bank_config and include_history: at least one must be true")
        parts: set[Part] = set()
        parts |= {"data", "whole"} if self.data else set()
        parts |= {"pages", "config"} if self.config else set()
        parts |= {"history"} if self.history else set()
        return frozenset(parts)


@dataclass(frozen=True, slots=True)
class SentArchive:
    """An archive with the request, or the id of an upload that was announced and brought before."""

    body: bytes | None = None
    upload_id: UUID | None = None


def export_bank(
    ports: TransferPorts, principal: Principal, bank: str, carried: Carried, documents: tuple[str, ...] | None
) -> OperationId:
    """Writes down an export of the bank, or of some of its documents.

    Raises: InvalidRequest, AccessDenied for a key that does not see all of the bank, NotFound, DatabaseUnavailable.
    """
    if documents is not None and (carried.config or carried.history or not carried.data):
        raise InvalidRequest("document_id: with it, only include_data may be true")
    parts: frozenset[Part] = carried.parts if documents is None else frozenset({"data"})
    return _export(ports, principal, bank, EXPORT_BANK, parts, documents)


def export_documents(
    ports: TransferPorts,
    principal: Principal,
    bank: str,
    documents: tuple[str, ...] | None,
    *,
    with_observations: bool,
    with_pages: bool,
) -> OperationId:
    """Writes down an export of documents.  Raises: as `export_bank` does."""
    if documents is not None and (with_observations or with_pages):
        raise InvalidRequest("document_id: with it, include_observations and include_knowledge_base must be false")
    parts: set[Part] = {"data"}
    parts |= {"whole"} if with_observations else set()
    parts |= {"pages"} if with_pages else set()
    return _export(ports, principal, bank, EXPORT_DOCUMENTS, frozenset(parts), documents)


def clone_bank(ports: TransferPorts, principal: Principal, bank: str, target: str, carried: Carried) -> OperationId:
    """Writes down a copy of the bank under another name.

    Raises: InvalidRequest for a name that is taken or cannot be one; AccessDenied, NotFound, DatabaseUnavailable.
    """
    _require(principal, bank, Permission.READ, Permission.WRITE, *_config_needs(carried.parts))
    require_export(ports.settings)
    require_import(ports.settings)
    with ports.store.transaction(principal.tenant_id) as tx:
        found = _found(tx, bank)
        _check_target(tx, principal, target)
        key = archive_key_of(principal.tenant_id, found.bank_id, uuid4())
        task = TransferTask(key, carried.parts, target)
        operation_id = _write_down(tx, principal, found, CLONE_BANK, task, {"target_bank_id": target})
    return _woken(ports, principal, operation_id)


def restore_bank(
    ports: TransferPorts,
    principal: Principal,
    bank: str,
    sent: SentArchive,
    target: str | None,
    narrowed: tuple[bool | None, bool | None, bool | None],
) -> OperationId:
    """Stores the archive and writes down the making of a bank out of it; the bank it is asked of keeps the operation.

    `narrowed`: whether data, settings and history are wanted of what the archive holds; None: if it holds them.

    Raises: ArchiveRefused; InvalidRequest for a name that is taken or cannot be one; AccessDenied, NotFound,
    FilesUnavailable, DatabaseUnavailable.
    """
    _require(principal, bank, Permission.WRITE)
    require_import(ports.settings)
    manifest = _manifest(ports, sent)
    parts = _wanted(manifest, narrowed)
    if manifest is None or "config" in parts or "pages" in parts:
        require(principal, Permission.ADMIN)
    wanted = target or (manifest.bank if manifest is not None else None)
    if wanted is None:
        raise InvalidRequest("target_bank_id: must be given with upload_id")
    return _import(ports, principal, bank, sent, TransferTask("", parts, wanted))


def import_documents(
    ports: TransferPorts, principal: Principal, bank: str, sent: SentArchive, on_conflict: str
) -> OperationId:
    """Stores the archive and writes down the adding of its documents to the bank.

    Raises: as `restore_bank` does.
    """
    if on_conflict not in CONFLICTS:
        raise InvalidRequest(f"document_conflict: must be one of {', '.join(CONFLICTS)}")
    _require(principal, bank, Permission.WRITE)
    require_import(ports.settings)
    manifest = _manifest(ports, sent)
    if manifest is not None and "data" not in manifest.parts:
        raise ArchiveRefused("the archive holds no documents")
    task = TransferTask("", frozenset({"data"}), on_conflict=cast(OnConflict, on_conflict))
    return _import(ports, principal, bank, sent, task)


def _export(
    ports: TransferPorts,
    principal: Principal,
    bank: str,
    kind: str,
    parts: frozenset[Part],
    documents: tuple[str, ...] | None,
) -> OperationId:
    _require(principal, bank, Permission.READ, *_config_needs(parts))
    require_export(ports.settings)
    with ports.store.transaction(principal.tenant_id) as tx:
        found = _found(tx, bank)
        if documents is not None:
            _check_documents(tx, found, documents)
        key = archive_key_of(principal.tenant_id, found.bank_id, uuid4())
        task = TransferTask(key, parts, documents=documents)
        operation_id = _write_down(tx, principal, found, kind, task, {})
    return _woken(ports, principal, operation_id)


def _import(
    ports: TransferPorts, principal: Principal, bank: str, sent: SentArchive, task: TransferTask
) -> OperationId:
    with ports.store.transaction(principal.tenant_id) as tx:
        found = _found(tx, bank)
        if task.target is not None:
            _check_target(tx, principal, task.target)
        key = _key(tx, principal, found, sent)
    if sent.body is not None:
        ports.files.put(key, sent.body, ZIP)
    elif ports.files.size(key) is None:
        raise Conflict("upload_id: the archive has not been uploaded, or has expired since")
    placed = TransferTask(key, task.parts, task.target, task.documents, task.on_conflict)
    kind = IMPORT_DOCUMENTS if task.target is None else IMPORT_BANK
    told: dict[str, object] = {} if task.target is None else {"target_bank_id": task.target}
    with ports.store.transaction(principal.tenant_id) as tx:
        operation_id = _write_down(tx, principal, _found(tx, bank), kind, placed, told)
    return _woken(ports, principal, operation_id)


def _key(tx: Transaction, principal: Principal, bank: Bank, sent: SentArchive) -> str:
    if sent.upload_id is None:
        return archive_key_of(principal.tenant_id, bank.bank_id, uuid4())
    uploads = tx.uploads.find(bank.bank_id, [sent.upload_id], operations_subject(principal))
    if sent.upload_id not in uploads:
        raise NotFound(f"Upload '{sent.upload_id}' not found")
    return uploads[sent.upload_id].key


def _manifest(ports: TransferPorts, sent: SentArchive) -> Manifest | None:
    """The manifest of an archive that came with the request; of one that was uploaded the job reads it."""
    if (sent.body is None) == (sent.upload_id is None):
        raise InvalidRequest("file: either a file or upload_id must be given")
    if sent.body is None:
        return None
    most = ports.settings.hindsight_transfer_max_unpacked_mb * MEGABYTE
    reader = ArchiveReader(io.BytesIO(sent.body), most)
    reader.verify()
    return reader.manifest


def _wanted(manifest: Manifest | None, narrowed: tuple[bool | None, bool | None, bool | None]) -> frozenset[Part]:
    """The parts to restore.  Raises: InvalidRequest when none is left, or documents without what belongs to them."""
    data, config, history = (True if each is None else each for each in narrowed)
    parts = Carried(data, config, history).parts & (_WHOLE if manifest is None else manifest.parts)
    if manifest is not None and "data" in manifest.parts and "whole" not in manifest.parts:
        raise InvalidRequest("file: the archive holds documents alone; import them with mode=merge")
    if not parts:
        raise InvalidRequest("include_data, include_bank_config, include_history: nothing of the archive is left")
    return parts


def _config_needs(parts: frozenset[Part]) -> tuple[Permission, ...]:
    """Settings and webhooks are an administrator's to read as to write."""
    return (Permission.ADMIN,) if "config" in parts else ()


def _require(principal: Principal, bank: str, *permissions: Permission) -> None:
    for permission in permissions:
        require(principal, permission)
    require_bank(principal, bank)
    require_whole_bank(principal)


def _found(tx: Transaction, bank: str) -> Bank:
    found = tx.banks.find(bank)
    if found is None:
        raise bank_not_found(bank)
    return found


def _check_target(tx: Transaction, principal: Principal, target: str) -> None:
    check_new_bank_id(target)
    if not sees_bank(principal, target):
        raise bank_not_found(target)
    if tx.transfers.is_taken(target):
        raise InvalidRequest(f"target_bank_id: '{target}' is already taken by another bank or alias")


def _check_documents(tx: Transaction, bank: Bank, documents: tuple[str, ...]) -> None:
    ids = {document_id_of(bank.bank_id, name): name for name in documents}
    stored = tx.documents.stored(bank.bank_id, list(ids))
    missing = [name for document_id, name in ids.items() if document_id not in stored]
    if missing:
        raise NotFound(f"Document '{missing[0]}' not found")


def _write_down(
    tx: Transaction, principal: Principal, bank: Bank, kind: str, task: TransferTask, told: dict[str, object]
) -> OperationId:
    operation_id = OperationId(uuid4())
    new = NewOperation(operation_id, kind, principal.subject, to_json(task), result=told)
    tx.operations.add(bank.bank_id, [new])
    return operation_id


def _woken(ports: TransferPorts, principal: Principal, operation_id: OperationId) -> OperationId:
    ports.wakeups.wake_transfers(principal.tenant_id, [operation_id])
    return operation_id
