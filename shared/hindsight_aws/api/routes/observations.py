"""Observations as a whole, or of one exact scope: cleared, to be made anew."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws import curation
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/observations", route_class=ReportingRoute)


@router.delete("")
async def clear_observations(
    call: CallDep, bank_id: str, scope: Annotated[list[str] | None, Query()] = None
) -> Response:
    """Deletes every observation of the bank; their facts wait for consolidation, which does not start by itself.

    With `scope`, once for each tag, those of that exact scope alone; `scope=` names the untagged one.
    """
    principal = call.principal(Permission.WRITE)
    ports = call.services.curation_ports
    if scope is None:
        gone = curation.clear_observations(ports, principal, bank_id)
    else:
        gone = curation.clear_scope(ports, principal, bank_id, [tag for tag in scope if tag])
    return json_answer({"success": True, "message": f"Cleared {gone} observations", "deleted_count": gone})
