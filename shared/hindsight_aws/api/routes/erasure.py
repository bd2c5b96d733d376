"""Erasures: what carries a tag taken out for good, and the receipts of all that was."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import uuid_of
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.erasure import document_of, erase_tags, receipt, receipts
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default", route_class=ReportingRoute)
Limit = Annotated[int, Query(ge=1, le=1_000)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]


class EraseRequest(BaseModel):
    """Which tags, each whole and as it is written, and whether one of them is enough."""

    tags: list[str] = Field(min_length=1, max_length=100)
    match: Literal["any", "all"] = "any"


@router.post("/banks/{bank_id}/erasures")
async def erase_tagged(call: CallDep, bank_id: str, body: EraseRequest) -> Response:
    """Erases what carries the tags; 202 while some of it is left, which goes on by itself."""
    principal = call.principal(Permission.ADMIN)
    erasure = erase_tags(call.services.erasure_ports, principal, bank_id, body.tags, body.match)
    return json_answer(document_of(principal.tenant_id, erasure), 202 if erasure.state == "running" else 200)


@router.get("/erasures")
async def list_erasures(call: CallDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The receipts of the banks that the key covers, the latest first; erased banks are among them."""
    principal = call.principal(Permission.ADMIN)
    found = receipts(call.services.erasure_ports, principal, limit, offset)
    items = [document_of(principal.tenant_id, erasure) for erasure in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.get("/erasures/{erasure_id}")
async def get_erasure(call: CallDep, erasure_id: str) -> Response:
    """One receipt."""
    principal = call.principal(Permission.ADMIN)
    found = receipt(call.services.erasure_ports, principal, uuid_of(erasure_id, "erasure_id"))
    return json_answer(document_of(principal.tenant_id, found))
