"""Paths that other functions serve: what reaches this one came with a wrong verb and is told so, as one app would."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

router = APIRouter(include_in_schema=False)
_SERVED_ELSEWHERE = ("/v1/default/banks/{bank_id}/memories",)
_VERBS = ["GET", "PUT", "PATCH"]


async def _wrong_verb() -> Response:
    raise HTTPException(405)


for _path in _SERVED_ELSEWHERE:
    router.add_api_route(_path, _wrong_verb, methods=_VERBS)
