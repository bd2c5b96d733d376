"""Operations of the wire contract that are not served: each says so, to whom it may say anything of the bank."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.auth import Call, CallDep
from hindsight_aws.api.errors import detail
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default", route_class=ReportingRoute)
_GONE, _NOT_SERVED = 410, 501


@router.get("/banks/{bank_id}/document-transfer")
async def export_documents_sync_removed() -> Response:
    """Removed from the contract itself: there is no key that it asks for, and no bank that it looks at."""
    return detail("This operation was removed: export with POST document-transfer/export", _GONE)


@router.get("/banks/{bank_id}/attachments/{attachment_id}")
async def get_bank_attachment(call: CallDep, bank_id: str) -> Response:
    """Attachments are not kept."""
    return _not_served(call, bank_id, "Attachments are not served: retain takes text, files/retain makes text of files")


@router.get("/banks/{bank_id}/llm-requests")
async def list_llm_requests(call: CallDep, bank_id: str) -> Response:
    """No log holds what models were asked and answered."""
    return _not_served(call, bank_id, _NO_LOG)


@router.get("/banks/{bank_id}/llm-requests/stats")
async def llm_request_stats(call: CallDep, bank_id: str) -> Response:
    """No log holds what models were asked and answered."""
    return _not_served(call, bank_id, _NO_LOG)


_NO_LOG = "The log of model requests is not served: no text of a call is kept; GET usage counts calls, tokens and USD"


def _not_served(call: Call, bank_id: str, why: str) -> Response:
    with call.bank(bank_id, Permission.READ):
        return detail(why, _NOT_SERVED)
