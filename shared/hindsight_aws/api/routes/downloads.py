"""Downloads: the archives that exports have made."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.transfer import download as use_case

router = APIRouter(prefix="/v1/default/files", route_class=ReportingRoute)
_ELSEWHERE = 307


@router.get("/download/{key:path}")
async def download_file(call: CallDep, key: str) -> Response:
    """The archive's bytes; of one that no answer can hold, where to get them without a key."""
    principal = call.principal(Permission.READ)
    found = use_case.download(call.services.transfer_ports, principal, key)
    if found.body is None:
        return RedirectResponse(found.address, _ELSEWHERE)
    named = {"content-disposition": f'attachment; filename="{found.filename}"'}
    return Response(found.body, media_type="application/zip", headers=named)
