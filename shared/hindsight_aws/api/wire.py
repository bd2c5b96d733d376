"""What every request passes: a guard against text that no database holds, and a word on ignored parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable
from typing import get_args
from urllib.parse import unquote

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight_aws.api.errors import detail

_IGNORED = "hindsight.ignored_params"
_MOST_NAMED = 20
_LONGEST_NAMED = 60


class WireGuard:
    """Refuses NUL characters in path and query, and reports the parameters that no route read in `x-ignored-params`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "\x00" in scope["path"] or "\x00" in unquote(scope["query_string"].decode("latin-1")):
            await detail("The path and the query must not contain NUL characters", 400)(scope, receive, send)
            return

        async def send_with_report(message: Message) -> None:
            ignored = scope.get(_IGNORED)
            if message["type"] == "http.response.start" and ignored:
                MutableHeaders(scope=message).append("x-ignored-params", ignored)
            await send(message)

        await self._app(scope, receive, send_with_report)


class ReportingRoute(APIRoute):
    """A route that notes which query parameters and top-level body fields it does not know."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        handle = super().get_route_handler()
        known_query = frozenset(_query_names(self.dependant))
        known_body = _body_names(self)

        async def noted(request: Request) -> Response:
            ignored = [name for name in dict.fromkeys(request.query_params) if name not in known_query]
            if known_body is not None:
                ignored += await _unknown_fields(request, known_body)
            if ignored:
                request.scope[_IGNORED] = ", ".join(_printable(name) for name in ignored[:_MOST_NAMED])
            return await handle(request)

        return noted


async def _unknown_fields(request: Request, known: frozenset[str]) -> list[str]:
    try:
        body: object = await request.json()
    except (ValueError, RecursionError):
        return []  # the route itself says what is wrong with it
    return [name for name in body if name not in known] if isinstance(body, dict) else []


def _query_names(dependant: Dependant) -> Iterable[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


def _body_names(route: APIRoute) -> frozenset[str] | None:
    if route.body_field is None:
        return None
    annotation = route.body_field.field_info.annotation
    names: set[str] = set()
    for kind in get_args(annotation) or (annotation,):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            names.update(field.alias or name for name, field in kind.model_fields.items())
    return frozenset(names) or None


def _printable(name: str) -> str:
    return json.dumps(name[:_LONGEST_NAMED])[1:-1]
