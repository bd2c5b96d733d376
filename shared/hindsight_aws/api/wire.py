"""What every request passes: a guard against text that no database holds, and a word on ignored parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import cast, get_args, get_origin
from urllib.parse import unquote

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight_aws.api import audit
from hindsight_aws.api.echo import harmless
from hindsight_aws.api.errors import detail, status_of
from hindsight_aws.api.observed import observed
from hindsight_aws.api.services import Services
from hindsight_aws.errors import HindsightError

_GREEDY = ":path}/"
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
    """A route that notes which query parameters, body fields, and fields of a list's entries it does not know.

    White space is no body where none is needed.
    What follows an id that may hold slashes must follow it by a slash of the address: one that is encoded (`%2F`)
    belongs to the id, so `x%2Fchunks` is a document and `x/chunks` are the chunks of one.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        ending = self.path.rpartition(_GREEDY)[2] if _GREEDY in self.path else None
        if match is Match.NONE or ending is None or unquote(_last_segment(scope)) == ending:
            return match, found
        return Match.NONE, {}

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        handle = super().get_route_handler()
        known_query = frozenset(_query_names(self.dependant))
        known_body, known_nested = _body_names(self), _nested_names(self)
        may_be_empty = self.body_field is not None and not self.body_field.field_info.is_required()

        async def noted(request: Request) -> Response:
            ignored = [name for name in dict.fromkeys(request.query_params) if name not in known_query]
            if known_body is not None:
                ignored += await _unknown_fields(request, known_body, known_nested)
            if ignored:
                request.scope[_IGNORED] = ", ".join(_printable(name) for name in ignored[:_MOST_NAMED])
            if may_be_empty and not (await request.body()).strip():
                request = Request(request.scope, _nothing)
            with observed(request, self.name, self.path):
                return await audited(request)

        async def audited(request: Request) -> Response:
            if not audit.is_noted(request.method, self.name):
                return await handle(request)
            clock = cast(Services, request.app.state.services).clock
            started = clock.now()
            try:
                response = await handle(request)
            except HindsightError as error:
                audit.note(request, audit.EndedCall(self.name, started, clock.now(), status_of(error)))
                raise
            audit.note(request, audit.EndedCall(self.name, started, clock.now(), response.status_code))
            return response

        return noted


async def _nothing() -> Message:
    """The whole of a body of no bytes."""
    return {"type": "http.request", "body": b"", "more_body": False}


def _last_segment(scope: Scope) -> str:
    """The end of the path as it came over the wire.

    An HTTP API that hands it on decoded has lost the difference; every slash then is one of the address.
    """
    event = scope.get("aws.event") or {}
    raw = event.get("rawPath") or (scope.get("raw_path") or b"").decode("latin-1") or scope["path"]
    return str(raw).rpartition("/")[2]


async def _unknown_fields(request: Request, known: frozenset[str], nested: Mapping[str, frozenset[str]]) -> list[str]:
    try:
        body: object = await request.json()
    except (ValueError, RecursionError):
        return []  # the route itself says what is wrong with it
    if not isinstance(body, dict):
        return []
    unknown = [name for name in body if name not in known]
    return unknown + [
        named for field, names in nested.items() for named in _unknown_within(body.get(field), field, names)
    ]


def _unknown_within(entries: object, field: str, known: frozenset[str]) -> list[str]:
    """Fields that a list's entries hold and no route reads, by their path."""
    if not isinstance(entries, list):
        return []
    return [
        f"{field}[{place}].{name}"
        for place, entry in enumerate(entries)
        if isinstance(entry, dict)
        for name in entry
        if name not in known
    ]


def _query_names(dependant: Dependant) -> Iterable[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


def _body_names(route: APIRoute) -> frozenset[str] | None:
    names = {name for kind in _body_models(route) for name in _field_names(kind)}
    return frozenset(names) or None


def _nested_names(route: APIRoute) -> dict[str, frozenset[str]]:
    """For each field that is a list of objects, the fields that these may have."""
    return {
        field.alias or name: frozenset(_field_names(entry))
        for kind in _body_models(route)
        for name, field in kind.model_fields.items()
        if get_origin(field.annotation) is list
        for entry in get_args(field.annotation)
        if isinstance(entry, type) and issubclass(entry, BaseModel)
    }


def _body_models(route: APIRoute) -> list[type[BaseModel]]:
    if route.body_field is None:
        return []
    annotation = route.body_field.field_info.annotation
    kinds = get_args(annotation) or (annotation,)
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _field_names(kind: type[BaseModel]) -> Iterable[str]:
    return (field.alias or name for name, field in kind.model_fields.items())


def _printable(name: str) -> str:
    return json.dumps(harmless(name)[:_LONGEST_NAMED])[1:-1]
