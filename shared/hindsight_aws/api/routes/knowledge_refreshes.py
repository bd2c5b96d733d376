"""Pages of the knowledge base that are to be written.  Served where refreshes of mental models may be started."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.nodes import shown_node
from hindsight_aws.api.schemas.knowledge import CreatePageBody, UpdateNodeBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.knowledge import manage
from hindsight_aws.mental_models.start import start
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/knowledge-base", route_class=ReportingRoute)


@router.post("/pages")
async def create_knowledge_page(call: CallDep, bank_id: str, body: CreatePageBody) -> Response:
    """Makes a page and has it written; an unknown bank is made.

    `scope_matches` counts the memories that its tags and types reach now, up to 1,000.
    """
    principal, door = call.principal(Permission.WRITE), call.services.pages_door
    furnish(call, principal, bank_id)
    made = manage.create_page(door, principal, bank_id, body.as_request())
    asking = made.asking
    start(door, principal.tenant_id, asking.bank_id, asking.operation_id)
    told = {"page_id": made.node_id, "mental_model_id": asking.model_id, "operation_id": asking.operation_id}
    return json_answer({**told, "scope_matches": asking.scope_matches}, 201)


@router.patch("/nodes/{node_id}")
async def update_knowledge_node(call: CallDep, bank_id: str, node_id: str, body: UpdateNodeBody) -> Response:
    """Renames or moves a folder or a page, and changes what a page is written from.

    A page whose question changes is written anew.
    """
    principal, door = call.principal(Permission.WRITE), call.services.pages_door
    done = manage.change_node(door, principal, bank_id, node_id, body.as_node_changes())
    if done.operation_id is not None:
        start(door, principal.tenant_id, done.bank_id, done.operation_id)
    return json_answer(shown_node(principal, done.node, done.view))
