"""Tags: what a bank's memories are marked with."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import page_sight, sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Offset
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/tags", route_class=ReportingRoute)


@router.get("")
async def list_tags(
    call: CallDep,
    bank_id: str,
    q: str | None = None,
    source: Literal["memories", "mental_models"] = "memories",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Tags of the memories, or of the mental models, in the caller's sight, most used first."""
    with call.bank(bank_id, Permission.READ) as seen:
        tags, at = seen.tx.tags, seen.bank.bank_id
        if source == "memories":
            found = tags.page(at, sight(seen.principal), q or None, limit, offset)
        else:
            found = tags.of_models(at, page_sight(seen.principal), q or None, limit, offset)
    items = [{"tag": tag, "count": uses} for tag, uses in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})
