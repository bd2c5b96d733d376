"""Transfers: banks and documents into archives and out of them, always as operations to ask about."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, File, Query, UploadFile
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.principal import Permission
from hindsight_aws.transfer import submit
from hindsight_aws.transfer.submit import Carried, SentArchive

router = APIRouter(prefix="/v1/default/banks/{bank_id}", route_class=ReportingRoute)
_ACCEPTED = 202

DocumentIds = Annotated[list[str] | None, Query()]
Archive = Annotated[UploadFile | None, File()]


@router.post("/transfer/export", status_code=_ACCEPTED)
async def export_bank_transfer(  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    include_data: bool = True,
    include_bank_config: bool = True,
    include_history: bool = False,
    document_id: DocumentIds = None,
) -> Response:
    """Writes the bank into an archive, or some of its documents."""
    principal = call.principal(Permission.READ)
    carried = Carried(include_data, include_bank_config, include_history)
    ports = call.services.transfer_ports
    return _pending(submit.export_bank(ports, principal, bank_id, carried, _some(document_id)))


@router.post("/transfer/import", status_code=_ACCEPTED)
async def import_bank_transfer(  # noqa: PLR0913, PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    mode: Literal["restore", "merge"] = "restore",
    target_bank_id: str | None = None,
    document_conflict: str | None = None,
    include_data: bool | None = None,
    include_bank_config: bool | None = None,
    include_history: bool | None = None,
    upload_id: UUID | None = None,
    file: Archive = None,
) -> Response:
    """Makes a bank out of an archive, or adds its documents to this one.

    An archive that no request can carry is brought with `files/uploads` first and named by its `upload_id`.
    """
    principal = call.principal(Permission.WRITE)
    ports, sent = call.services.transfer_ports, await _sent(file, upload_id)
    narrowed = (include_data, include_bank_config, include_history)
    if mode == "restore":
        if document_conflict not in {None, "skip"}:
            raise InvalidRequest("document_conflict: is for mode=merge alone")
        return _pending(submit.restore_bank(ports, principal, bank_id, sent, target_bank_id, narrowed))
    if target_bank_id is not None or any(each is not None for each in narrowed):
        raise InvalidRequest("mode: merge takes neither target_bank_id nor include_data, _bank_config or _history")
    return _pending(submit.import_documents(ports, principal, bank_id, sent, document_conflict or "skip"))


@router.post("/clone", status_code=_ACCEPTED)
async def clone_bank(  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    target_bank_id: str,
    include_data: bool = True,
    include_bank_config: bool = True,
    include_history: bool = False,
) -> Response:
    """Copies the bank into one that is not there yet."""
    principal = call.principal(Permission.WRITE)
    carried = Carried(include_data, include_bank_config, include_history)
    return _pending(submit.clone_bank(call.services.transfer_ports, principal, bank_id, target_bank_id, carried))


@router.post("/document-transfer/export", status_code=_ACCEPTED, deprecated=True)
async def export_documents(
    call: CallDep,
    bank_id: str,
    document_id: DocumentIds = None,
    include_observations: bool = False,
    include_knowledge_base: bool = False,
) -> Response:
    """Writes documents with their facts into an archive."""
    principal = call.principal(Permission.READ)
    operation_id = submit.export_documents(
        call.services.transfer_ports,
        principal,
        bank_id,
        _some(document_id),
        with_observations=include_observations,
        with_pages=include_knowledge_base,
    )
    return _pending(operation_id)


@router.post("/document-transfer", status_code=_ACCEPTED, deprecated=True)
async def import_documents(
    call: CallDep, bank_id: str, on_conflict: str = "skip", upload_id: UUID | None = None, file: Archive = None
) -> Response:
    """Adds the documents of an archive to the bank."""
    principal = call.principal(Permission.WRITE)
    sent = await _sent(file, upload_id)
    return _pending(submit.import_documents(call.services.transfer_ports, principal, bank_id, sent, on_conflict))


async def _sent(file: UploadFile | None, upload_id: UUID | None) -> SentArchive:
    return SentArchive(None if file is None else await file.read(), upload_id)


def _some(documents: list[str] | None) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(documents)) if documents else None


def _pending(operation_id: OperationId) -> Response:
    return json_answer({"operation_id": operation_id, "status": "pending"}, _ACCEPTED)
