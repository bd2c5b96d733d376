"""The HTTP doors of the local stack. Called by HTTP clients; calls the function pools through `Invoker`.

Errors made here, not by a function, carry `{"detail": ...}` as the API's own do, not API Gateway's `{"message": ...}`:
clients of this API look for `detail` (the cloud maps its gateway responses the same way). HEAD and OPTIONS pass to the
function like any other method; the app answers OPTIONS with 405, as there is no CORS.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from infra.local.functions import ErrorKind, Failure, Outcome
from infra.local.gateway.events import MalformedAnswer, decode_answer, encode_event
from infra.local.gateway.routes import RouteMatch, RouteTable
from infra.local.http import HttpRequest, HttpResponse, HttpServer
from infra.local.jwt_issuer import TokenRefused
from infra.topology import DEFAULT_ROUTE, HttpLimits, Topology

if TYPE_CHECKING:
    from infra.local.gateway.authorizer import JwtAuthorizer

Invoker = Callable[[str, bytes], Awaitable[Outcome]]
"""Runs one event of the named function."""

TOO_LARGE: Final = (
    "Request Entity Too Large: a request carries 6 MB at most, a third less of bytes that are no text; divide it, or "
    "bring files by POST /v1/default/banks/{bank_id}/files/uploads"
)

_log = logging.getLogger(__name__)

_GATEWAY_STATUS: Final = {
    ErrorKind.HANDLER: (500, "Internal Server Error"),
    ErrorKind.RUNTIME: (500, "Internal Server Error"),
    ErrorKind.TOO_LARGE_REQUEST: (413, TOO_LARGE),
    ErrorKind.TOO_LARGE_RESPONSE: (500, "Internal Server Error"),
    ErrorKind.THROTTLED: (503, "Service Unavailable"),
}
_FUNCTION_URL_STATUS: Final = _GATEWAY_STATUS | {
    ErrorKind.HANDLER: (502, "Bad Gateway"),
    ErrorKind.RUNTIME: (502, "Bad Gateway"),
    ErrorKind.TOO_LARGE_RESPONSE: (502, "Bad Gateway"),
    ErrorKind.THROTTLED: (429, "Too Many Requests"),
}


class Gateway:
    """The HTTP API: routes by the topology's table and waits no longer than its limit.

    With an authorizer it lets nobody in without a token, and tells the functions the token's claims.
    """

    def __init__(self, topology: Topology, invoke: Invoker, authorizer: "JwtAuthorizer | None" = None) -> None:
        self._authorizer = authorizer
        self._routes = RouteTable(topology)
        self._limits = topology.http
        self._invoke = invoke
        self._server = HttpServer(self._answer, max_body=self._limits.event_bytes)
        self._running: set[asyncio.Future[Outcome]] = set()

    async def start(self, port: int) -> int:
        """Listens; the answer is the port. Raises: OSError, when it is taken."""
        return await self._server.start(port)

    def stop(self) -> None:
        """Hangs up on every client."""
        self._server.stop()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        match = self._routes.match(request.method, request.path)
        if match is None:
            return refusal(404, "Not Found")
        claims = None
        if self._authorizer is not None:
            try:
                claims = await self._authorizer.claims(request.header("authorization"))
            except TokenRefused as refused:
                return unauthorized(str(refused))
        if request.too_large:
            return refusal(413, TOO_LARGE)
        # Past the limit the caller is let go, while the function works on: as with API Gateway and Lambda.
        outcome = asyncio.ensure_future(self._invoke(match.function, encode_event(request, match, claims)))
        self._running.add(outcome)
        outcome.add_done_callback(self._running.discard)
        done, _ = await asyncio.wait({outcome}, timeout=self._limits.seconds)
        if not done:
            return refusal(503, "Service Unavailable")
        return to_response(outcome.result(), _GATEWAY_STATUS)


class FunctionUrl:
    """One function's own URL: every path is its, and it may take as long as the function itself."""

    def __init__(self, function: str, limits: HttpLimits, invoke: Invoker) -> None:
        self._match = RouteMatch(DEFAULT_ROUTE, function, ())
        self._invoke = invoke
        self._server = HttpServer(self._answer, max_body=limits.event_bytes)

    async def start(self, port: int = 0) -> int:
        """Listens; the answer is the port."""
        return await self._server.start(port)

    def stop(self) -> None:
        """Hangs up on every client."""
        self._server.stop()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.too_large:
            return refusal(413, TOO_LARGE)
        outcome = await self._invoke(self._match.function, encode_event(request, self._match))
        return to_response(outcome, _FUNCTION_URL_STATUS)


def refusal(status: int, detail: str) -> HttpResponse:
    """An error made by the gateway itself."""
    return HttpResponse(status, json.dumps({"detail": detail}).encode())


def unauthorized(why: str) -> HttpResponse:
    """The authorizer's refusal: why it refuses is in a header, as API Gateway has it."""
    answer = refusal(401, "Unauthorized")
    challenge = f'Bearer scope="" error="invalid_token" error_description="{why}"'
    return HttpResponse(answer.status, answer.body, (*answer.headers, ("www-authenticate", challenge)))


def to_response(outcome: Outcome, statuses: dict[ErrorKind, tuple[int, str]]) -> HttpResponse:
    """What the client sees of an invocation; a failure's details stay in the log."""
    if isinstance(outcome, Failure):
        return refusal(*statuses[outcome.kind])
    try:
        return decode_answer(outcome.payload)
    except MalformedAnswer as error:
        _log.error("a function answered no HTTP response: %s", error)
        return refusal(*statuses[ErrorKind.HANDLER])
