"""Refreshes of mental models: asked for when one is made, by hand, or to see what one would write."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.routes.reflect import patience, told
from hindsight_aws.api.schemas.mental_models import CreateMentalModelBody, RefreshBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.mental_models import dry_run, manage
from hindsight_aws.mental_models.start import start
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/mental-models", route_class=ReportingRoute)


@router.post("")
async def create_mental_model(call: CallDep, bank_id: str, body: CreateMentalModelBody) -> Response:
    """Makes a model and has it written; `scope_matches` counts the memories that its tags reach now, up to 1,000."""
    principal, door = call.principal(Permission.WRITE), call.services.pages_door
    furnish(call, principal, bank_id)
    made = manage.create(door, principal, bank_id, body.as_request())
    start(door, principal.tenant_id, made.bank_id, made.operation_id)
    answer: dict[str, object] = {
        "mental_model_id": made.model_id,
        "operation_id": made.operation_id,
        "scope_matches": made.scope_matches,
    }
    if made.scope_matches == 0:
        answer["warnings"] = ["No memory passes the model's tags and types yet: its text stays empty until one does."]
    return json_answer(answer)


@router.post("/{mental_model_id}/refresh")
async def refresh_mental_model(
    call: CallDep, bank_id: str, mental_model_id: str, body: RefreshBody | None = None
) -> Response:
    """Has the model refreshed now, as part of a refresh that waits already if there is one."""
    principal, door = call.principal(Permission.WRITE), call.services.pages_door
    full = body is not None and body.mode == "full"
    asked = manage.refresh(door, principal, bank_id, mental_model_id, full=full)
    start(door, principal.tenant_id, asked.bank_id, asked.operation_id)
    return json_answer({"operation_id": asked.operation_id, "status": "queued"})


@router.post("/{mental_model_id}/dry-run-refresh")
async def dry_run_refresh_mental_model(call: CallDep, request: Request, bank_id: str, mental_model_id: str) -> Response:
    """What a refresh would write now, and why; writes nothing."""
    principal, door = call.principal(Permission.WRITE), call.services.pages_door
    run = dry_run.dry_run(door, principal, bank_id, mental_model_id)
    run = dry_run.wait(door, principal, run, patience(request, call.services.settings))
    return told(run, call.services.settings)
