"""Paths that other functions serve: what gets here came with a wrong verb, or a slash too many, and is told so."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

router = APIRouter(include_in_schema=False)
_SERVED_ELSEWHERE = ("/v1/default/banks/{bank_id}/memories",)
_VERBS = ["GET", "PUT", "PATCH"]


async def _wrong_verb() -> Response:
    raise HTTPException(405)


async def _without_slash(_request: Request) -> Response:
    """Where a gateway's greedy route takes no empty rest, `/mcp/` comes here; 308 keeps verb and body."""
    return RedirectResponse("/mcp", 308)


router.add_route("/mcp/", _without_slash, methods=["GET", "POST", "DELETE"], include_in_schema=False)
for _path in _SERVED_ELSEWHERE:
    router.add_api_route(_path, _wrong_verb, methods=_VERBS)
