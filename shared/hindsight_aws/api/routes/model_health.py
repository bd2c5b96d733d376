"""Whether the models behind a bank answer.  Served where text models may be called."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks import model_health
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/health", route_class=ReportingRoute)


@router.post("/llm")
async def test_bank_llm(call: CallDep, bank_id: str) -> Response:
    """Asks each text model once; models that are the same are asked together."""
    principal, services = call.principal(Permission.WRITE), call.services
    found = model_health.check(
        services.store, services.probed_model, services.settings, principal, bank_id, services.clock
    )
    operations = [
        {"operation": one.operation, "ok": one.is_ok, "status": one.status, "latency_ms": one.latency_ms}
        for one in found
    ]
    return json_answer({"bank_id": bank_id, "operations": operations})
