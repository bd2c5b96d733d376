"""Embedding a bank anew by another model, as an operation to ask about."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.reembedding import ReembedRequest
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.reembedding.submit import submit

router = APIRouter(prefix="/v1/default/banks/{bank_id}", route_class=ReportingRoute)
_ACCEPTED = 202


@router.post("/reembed", status_code=_ACCEPTED)
async def reembed_bank(call: CallDep, bank_id: str, body: ReembedRequest | None = None) -> Response:
    """Makes the bank's vectors anew by another model; those that are there serve until all are made."""
    principal = call.principal(Permission.ADMIN)
    asked = submit(call.services.reembedding_ports, principal, bank_id, None if body is None else body.model)
    told = {"operation_id": asked.operation_id, "status": "pending", "model": asked.model}
    return json_answer(told | {"deduplicated": asked.deduplicated}, _ACCEPTED)
