"""Retain: text in, facts stored before the answer, or an operation to ask about."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws import retain
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.schemas.retain import RetainBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.retain import RetainResult, RetainTotals

router = APIRouter(route_class=ReportingRoute)
WATERMARK_HEADER = "X-Hindsight-Watermark"


@router.post("/v1/default/banks/{bank_id}/memories")
async def retain_memories(call: CallDep, bank_id: str, body: RetainBody) -> Response:
    """Stores the items; makes the bank on first use."""
    principal = call.principal(Permission.WRITE)
    ports, request = call.services.retain_ports, body.as_request()
    furnish(call, principal, bank_id)
    do = retain.submit if body.is_async else retain.retain
    result = do(ports, principal, bank_id, request)
    answer = json_answer(_shown(result))
    if result.watermark is not None:
        answer.headers[WATERMARK_HEADER] = result.watermark
    return answer


def _shown(result: RetainResult) -> dict[str, object]:
    ids = result.operation_ids
    extra: dict[str, object] = {} if result.screening is None else {"screening": result.screening}
    if result.warnings:
        extra["warnings"] = list(result.warnings)
    if result.superseded_by is not None:
        extra["superseded_by"] = result.superseded_by
    if result.items is not None:
        extra["items"] = [
            {
                "document_id": item.document_id,
                "memories_count": item.memories_count,
                "memory_ids": None if item.memory_ids is None else list(item.memory_ids),
            }
            for item in result.items
        ]
    return {
        **extra,
        "success": True,
        "bank_id": result.bank_id,
        "items_count": result.items_count,
        "async": result.is_async,
        "operation_id": result.operation_id,
        "operation_ids": None if ids is None else list(ids),
        "usage": None if result.usage is None else _usage(result.usage),
        "watermark": result.watermark,
    }


def _usage(totals: RetainTotals) -> dict[str, int]:
    return {
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "total_tokens": totals.total_tokens,
        "cached_tokens": totals.cached_tokens,
        "thoughts_tokens": 0,
    }
