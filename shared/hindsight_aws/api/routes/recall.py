"""Recall: a question in, the memories that answer it out, as ready bytes."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hindsight_aws.api.answers import json_bytes
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.recall import RecallBody, RecallTogetherBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import InvalidField
from hindsight_aws.model.principal import Permission
from hindsight_aws.recall import RecallQuery, recall, recall_together, render, render_together

router = APIRouter(route_class=ReportingRoute)


@router.post("/v1/default/banks/{bank_id}/memories/recall")
async def recall_memories(call: CallDep, bank_id: str, body: RecallBody) -> Response:
    """What the bank remembers about the question."""
    query = _query(body)
    services = call.services
    principal = call.principal(Permission.READ)
    answer = recall(
        services.store,
        services.embedder,
        services.settings,
        principal,
        bank_id,
        query,
        reranker=services.reranker,
        clock=services.clock,
    )
    return json_bytes(render(answer))


@router.post("/v1/default/recall")
async def recall_several_banks(call: CallDep, body: RecallTogetherBody) -> Response:
    """What several banks remember about the question, as one list."""
    query = _query(body)
    services = call.services
    principal = call.principal(Permission.READ)
    answer = recall_together(
        services.store,
        services.embedder,
        services.settings,
        principal,
        body.banks,
        query,
        reranker=services.reranker,
        clock=services.clock,
    )
    return json_bytes(render_together(answer))


def _query(body: RecallBody) -> RecallQuery:
    try:
        return body.as_query()
    except InvalidField as wrong:
        # One sentence, not a list: the clients of this route know it so.
        raise HTTPException(422, str(wrong)) from None
