"""Consolidation asked for by hand."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.consolidation import ConsolidationRequest
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.consolidate.submit import recover, submit
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}", route_class=ReportingRoute)


@router.post("/consolidate")
async def trigger_consolidation(call: CallDep, bank_id: str, body: ConsolidationRequest | None = None) -> Response:
    """Consolidates what is pending now, whether or not that happens by itself in this bank."""
    principal = call.principal(Permission.WRITE)
    scopes = body.observation_scopes if body is not None else None
    made = submit(call.services.consolidation_ports, principal, bank_id, scopes)
    return json_answer({"operation_id": made.operation_id, "deduplicated": made.deduplicated})


@router.post("/consolidation/recover")
async def recover_consolidation(call: CallDep, bank_id: str) -> Response:
    """Makes failed facts pending again; starts nothing."""
    principal = call.principal(Permission.WRITE)
    return json_answer({"retried_count": recover(call.services.consolidation_ports, principal, bank_id)})
