"""The Runtime API (2018-06-01) one execution environment talks to, on a port of its own. Called by `environment`.

AWS_LAMBDA_RUNTIME_API is a bare host and port, so the port is what tells environments apart.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from infra.local.http import HttpRequest, HttpResponse, HttpServer

_PREFIX: Final = "/2018-06-01/runtime/"
_ACCEPTED: Final = HttpResponse(202, b'{"status":"OK"}')
_RESTORED: Final = HttpResponse(200, b"")
"""To a process that has made itself ready for a snapshot: one was taken and has just been restored, here at once."""
_UNKNOWN: Final = HttpResponse(404, b'{"errorType":"NotFound","errorMessage":"no such Runtime API path"}')
_STALE: Final = HttpResponse(400, b'{"errorType":"InvalidRequestID","errorMessage":"that invocation is not running"}')
_BODY_ALLOWANCE: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Invocation:
    """One event on its way to a function. `deadline` is milliseconds since the epoch."""

    request_id: str
    payload: bytes
    deadline: int


class RuntimeSession(Protocol):
    """The environment behind the API."""

    async def next_invocation(self) -> Invocation:
        """Promises the next event, however long that takes; until then the process counts as idle."""
        ...

    def complete(self, request_id: str, payload: bytes, *, is_error: bool) -> bool:
        """Takes the handler's answer or error; False when that invocation is not the one running."""
        ...

    def fail_init(self, payload: bytes) -> None:
        """Takes the error document of a process that could not load its handler, or be restored from its snapshot."""
        ...


class RuntimeApi:
    """Serves one session."""

    def __init__(self, session: RuntimeSession, function_name: str) -> None:
        self._session = session
        self._arn = f"arn:aws:lambda:us-east-1:000000000000:function:{function_name}"
        self._server = HttpServer(self._answer, max_body=_BODY_ALLOWANCE)

    async def start(self) -> str:
        """Listens; the answer is `host:port`."""
        return f"127.0.0.1:{await self._server.start()}"

    def stop(self) -> None:
        """Hangs up on the process."""
        self._server.stop()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(_PREFIX):
            return _UNKNOWN
        match (request.method, *request.path.removeprefix(_PREFIX).split("/")):
            case ("GET", "invocation", "next"):
                return self._encode(await self._session.next_invocation())
            case ("POST", "invocation", request_id, ("response" | "error") as kind):
                known = self._session.complete(request_id, request.body, is_error=kind == "error")
                return _ACCEPTED if known else _STALE
            case ("GET", "restore", "next"):
                return _RESTORED
            case ("POST", "init" | "restore", "error"):
                self._session.fail_init(request.body)
                return _ACCEPTED
            case _:
                return _UNKNOWN

    def _encode(self, invocation: Invocation) -> HttpResponse:
        return HttpResponse(
            200,
            invocation.payload,
            (
                ("content-type", "application/json"),
                ("lambda-runtime-aws-request-id", invocation.request_id),
                ("lambda-runtime-deadline-ms", str(invocation.deadline)),
                ("lambda-runtime-invoked-function-arn", self._arn),
                ("lambda-runtime-trace-id", f"Root=1-0-{invocation.request_id.replace('-', '')[:24]};Sampled=0"),
            ),
        )
