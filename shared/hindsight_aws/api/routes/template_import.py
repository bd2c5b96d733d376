"""Bank templates laid over banks.  Served where refreshes of mental models may be started."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.schemas.templates import read_manifest
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks import template as use_case
from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.review import review
from hindsight_aws.mental_models.start import start
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/import", route_class=ReportingRoute)


@router.post("")
async def import_bank_template(call: CallDep, request: Request, bank_id: str, dry_run: bool = False) -> Response:
    """Lays a template over the bank, all of it or nothing; `dry_run` only checks it.

    `warnings` says which settings do not do what they seem to say.
    """
    principal, door = call.principal(Permission.ADMIN), call.services.pages_door
    template = read_manifest(await request.body())
    if not dry_run:
        furnish(call, principal, bank_id, Permission.ADMIN)
    work = use_case.rehearse if dry_run else use_case.apply
    done = work(door, principal, bank_id, template)
    if done.bank_id is not None:
        call.forget_names()
        for operation_id in done.operations:
            start(door, principal.tenant_id, done.bank_id, operation_id)
    return json_answer(
        {
            "bank_id": done.external_id,
            "config_applied": done.is_configured,
            "mental_models_created": list(done.models_created),
            "mental_models_updated": list(done.models_updated),
            "directives_created": list(done.directives_created),
            "directives_updated": list(done.directives_updated),
            "operation_ids": list(done.operations),
            "dry_run": dry_run,
            "warnings": review(resolve(door.settings, done.overrides)),
        }
    )
