"""The way in for files: their bytes are stored, their conversions written down, then somebody is woken.

Called by the API; calls retain's intake to refuse at once what it would refuse later, and the ports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from hindsight_aws.access import bank_not_found, operations_subject, require, require_bank
from hindsight_aws.errors import Conflict, ContentRefused, InvalidField, InvalidRequest, NotFound, TooLarge
from hindsight_aws.faults import reached
from hindsight_aws.files import points
from hindsight_aws.files.ports import FilesPorts, require_files
from hindsight_aws.files.requests import (
    MEGABYTE,
    UNKNOWN_TYPE,
    FileOptions,
    FilesRequest,
    key_of,
    plain_name,
    plain_type,
)
from hindsight_aws.files.task import ConversionTask, to_json
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import FILE_CONVERT_RETAIN, NewOperation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Transaction
from hindsight_aws.ports.uploads import Upload
from hindsight_aws.retain import RetainRequest
from hindsight_aws.retain.admit import admit
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.accepted import DocumentTask
from hindsight_aws.text.sanitise import clean

_STAND_IN = "text of the file"
"""Goes through intake in place of the text that is not known yet."""


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A file on its way in: with its bytes, or uploaded before."""

    task: ConversionTask
    body: bytes | None = None
    upload: Upload | None = None

    @property
    def has_operation(self) -> bool:
        """Whether an earlier request retained it, after which its bytes may be gone."""
        return self.upload is not None and self.upload.operation_id is not None


def retain_files(ports: FilesPorts, principal: Principal, bank: str, request: FilesRequest) -> list[OperationId]:
    """Stores the files and writes down one operation for each, in their order, which a worker does later.

    Guarantees: an upload that is named again is answered with the operation it was given first, and nothing more is
    done for it.  Files that name one document are retained in their order.

    Raises: InvalidRequest and its kinds, Conflict for an upload that never arrived, AccessDenied, NotFound for an
    unknown bank or upload, FilesUnavailable, DatabaseUnavailable.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    require_files(ports.retain.settings)
    _check_limits(ports, request)
    with ports.retain.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.find(bank)
        if found is None:
            raise bank_not_found(bank)
        incoming = [*_sent(principal, found, request), *_announced(tx, principal, found, request)]
        incoming = _checked(tx, ports, principal, found, incoming)
    _check_arrived(ports, [each for each in incoming if each.upload is not None])
    for each in incoming:
        if each.body is not None:
            ports.files.put(each.task.key, each.body, each.task.content_type)
    operations = _write_down(ports, principal, found, incoming)
    reached(points.AFTER_SUBMIT)
    ports.retain.wakeups.wake_conversions(principal.tenant_id, operations)
    return operations


def _check_limits(ports: FilesPorts, request: FilesRequest) -> None:
    settings = ports.retain.settings
    most = settings.hindsight_api_file_conversion_max_batch_size
    most_mb = settings.hindsight_api_file_conversion_max_batch_size_mb
    count = len(request.files) + len(request.uploads)
    if not 1 <= count <= most:
        raise InvalidRequest(f"files: between 1 and {most} files in one request, not {count}")
    if sum(len(file.body) for file in request.files) > most_mb * MEGABYTE:
        raise InvalidRequest(f"files: at most {most_mb} MB in one request")
    if len(set(request.uploads)) != len(request.uploads):
        raise InvalidRequest("uploads: the same upload stands there twice")


def _sent(principal: Principal, bank: Bank, request: FilesRequest) -> list[_Incoming]:
    return [
        _Incoming(
            ConversionTask(
                key=key_of(principal.tenant_id, bank.bank_id, uuid4()),
                name=plain_name(file.name),
                content_type=plain_type(file.content_type) or UNKNOWN_TYPE,
                size=len(file.body),
                options=_named(options, uuid4()),
            ),
            body=file.body,
        )
        for file, options in zip(request.files, request.options, strict=False)
    ]


def _announced(tx: Transaction, principal: Principal, bank: Bank, request: FilesRequest) -> list[_Incoming]:
    if not request.uploads:
        return []
    known = tx.uploads.find(bank.bank_id, request.uploads, operations_subject(principal))
    incoming = []
    for upload_id, options in zip(request.uploads, request.options[len(request.files) :], strict=True):
        upload = known.get(upload_id)
        if upload is None:
            raise _upload_not_found(upload_id)
        named = _named(options, upload_id)
        task = ConversionTask(upload.key, upload.filename, upload.content_type, upload.size, named)
        incoming.append(_Incoming(task, upload=upload))
    return incoming


def _named(options: FileOptions, file_id: UUID) -> FileOptions:
    return replace(options, document_id=clean(options.document_id or "") or f"file_{file_id}")


def _checked(
    tx: Transaction, ports: FilesPorts, principal: Principal, bank: Bank, incoming: Sequence[_Incoming]
) -> list[_Incoming]:
    """The files with their names and options cleaned and screened, as the rows may hold them.

    Refuses what retain would refuse of the options, naming them as the caller knows them.
    """
    checked: list[_Incoming] = []
    for place, each in enumerate(incoming):
        named = f"files_metadata[{place}]"
        try:
            accepted = accept(RetainRequest((each.task.item(_STAND_IN),)), ports.retain.clock.now(), may_fold=False)
            [admitted] = admit(tx, ports.retain.settings, principal, bank, accepted).tasks
        except InvalidField as wrong:
            raise InvalidField(wrong.field.replace("items[0]", named), wrong.problem) from None
        except TooLarge as wrong:
            raise TooLarge(str(wrong).replace("items[0]", named)) from None
        except ContentRefused as refused:
            raise ContentRefused(tuple(replace(found, item=place) for found in refused.violations)) from None
        task = replace(each.task, options=_cleaned(each.task.options, admitted))
        if admitted.file is not None:
            task = replace(task, name=admitted.file.name, content_type=admitted.file.content_type)
        checked.append(replace(each, task=task))
    return checked


def _cleaned(options: FileOptions, admitted: DocumentTask) -> FileOptions:
    [part] = admitted.parts
    return FileOptions(
        document_id=admitted.external_id,
        context=part.context,
        metadata=dict(part.metadata),
        tags=part.tags,
        timestamp=options.timestamp,
        strategy=part.strategy,
    )


def _check_arrived(ports: FilesPorts, uploads: Sequence[_Incoming]) -> None:
    most = ports.retain.settings.hindsight_api_file_conversion_max_batch_size_mb
    if sum(each.task.size for each in uploads) > most * MEGABYTE:
        raise InvalidRequest(f"uploads: at most {most} MB in one request")
    for place, each in enumerate(uploads):
        if each.has_operation:
            continue
        name, size = each.task.name, ports.files.size(each.task.key)
        if size is None:
            raise Conflict(f"uploads[{place}]: the file {name!r} has not been uploaded, or has expired since")
        if size != each.task.size:
            raise Conflict(f"uploads[{place}]: {size} bytes of {name!r} are there, and {each.task.size} were announced")


def _write_down(
    ports: FilesPorts, principal: Principal, bank: Bank, incoming: Sequence[_Incoming]
) -> list[OperationId]:
    """Writes the operations; an upload that has one already is answered with it."""
    # Operations on one document run by time and id, and all of these have one time.
    operations = [OperationId(made) for made in sorted(uuid4() for _ in incoming)]
    named = [each.upload.upload_id for each in incoming if each.upload is not None]
    with ports.retain.store.transaction(principal.tenant_id) as tx:
        if tx.banks.by_id(bank.bank_id) is None:
            raise bank_not_found(bank.external_id)
        taken = tx.uploads.take(bank.bank_id, named) if named else {}
        new: list[NewOperation] = []
        for place, each in enumerate(incoming):
            if each.upload is not None:
                upload = taken.get(each.upload.upload_id)
                if upload is None:
                    raise _upload_not_found(each.upload.upload_id)
                if upload.operation_id is not None:
                    operations[place] = upload.operation_id
                    continue
                tx.uploads.assign(bank.bank_id, upload.upload_id, operations[place])
            new.append(_operation(operations[place], principal, bank, each.task))
        tx.operations.add(bank.bank_id, new)
    return operations


def _upload_not_found(upload_id: UUID) -> NotFound:
    return NotFound(f"Upload '{upload_id}' not found")


def _operation(operation_id: OperationId, principal: Principal, bank: Bank, task: ConversionTask) -> NewOperation:
    name = task.options.document_id or ""
    return NewOperation(
        operation_id=operation_id,
        kind=FILE_CONVERT_RETAIN,
        subject=principal.subject,
        payload=to_json(task),
        items_count=1,
        document_external_id=name,
        document_ids=(document_id_of(bank.bank_id, name),),
        result={"filename": task.name, "content_type": task.content_type, "bytes": task.size},
    )
