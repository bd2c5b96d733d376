"""Bank templates: the one that a bank is, and what a template looks like."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.templates import manifest_schema, shown
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks.template import read
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1", route_class=ReportingRoute)


@router.get("/bank-template-schema")
async def get_bank_template_schema() -> Response:
    """The JSON Schema of a template; no key needed."""
    return json_answer(manifest_schema())


@router.get("/default/banks/{bank_id}/export")
async def export_bank_template(call: CallDep, bank_id: str) -> Response:
    """The bank's own settings as they are stored, its mental models without text, and its directives."""
    with call.bank(bank_id, Permission.READ) as seen:
        template = read(seen.tx, seen.principal, seen.bank)
    return json_answer(shown(template))
