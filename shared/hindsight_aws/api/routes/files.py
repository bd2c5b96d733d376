"""Files: text read from uploaded bytes, always as operations to ask about."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile
from starlette.responses import Response

from hindsight_aws import files as use_case
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.files import UploadBody, read_request
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.files import FilesRequest, SentFile
from hindsight_aws.files.requests import UNKNOWN_TYPE
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/files", route_class=ReportingRoute)


@router.post("/retain")
async def file_retain(
    call: CallDep,
    bank_id: str,
    request: Annotated[str, Form()],
    files: Annotated[list[UploadFile] | None, File()] = None,
) -> Response:
    """Takes files in, those of the request and those uploaded before; one operation for each, in their order."""
    principal = call.principal(Permission.WRITE)
    sent = files or []
    uploads, options = read_request(request, len(sent))
    bodies = tuple(
        [SentFile(each.filename or "", each.content_type or UNKNOWN_TYPE, await each.read()) for each in sent]
    )
    ports = call.services.files_ports
    operations = use_case.retain_files(ports, principal, bank_id, FilesRequest(bodies, uploads, options))
    return json_answer({"operation_ids": operations})


@router.post("/uploads")
async def announce_file_upload(call: CallDep, bank_id: str, body: UploadBody) -> Response:
    """An id for `files/retain`, and the address to PUT the file to with exactly these headers."""
    principal = call.principal(Permission.WRITE)
    announced = use_case.announce_upload(call.services.files_ports, principal, bank_id, body.as_upload())
    ticket = announced.ticket
    return json_answer(
        {
            "upload_id": announced.upload_id,
            "method": "PUT",
            "url": ticket.url,
            "headers": dict(ticket.headers),
            "expires_at": ticket.expires_at,
        }
    )
