"""Requests of the app to itself: a tool asks the same routes as any client, and none of it leaves the process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import unquote, urlencode

from starlette.requests import Request
from starlette.types import Message, Scope

from hindsight_aws.api.audit import TRANSPORT
from hindsight_aws.api.auth import COUNTED
from hindsight_aws.api.claims import EVENT, authorizer_part
from hindsight_aws.api.mcp.tool import RouteCall
from hindsight_aws.ports.model_gateway import JsonValue


@dataclass(slots=True)
class RouteAnswer:
    """What a route answered."""

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)

    def json(self) -> JsonValue:
        """The body."""
        return cast("JsonValue", json.loads(self.body))


async def ask(request: Request, call: RouteCall, *, counts: bool) -> RouteAnswer:
    """What the app that serves this request answers to another one of the same caller.

    `counts`: as one of the requests that the caller's tenant may make, besides the one being served.
    """
    payload = b"" if call.body is None else json.dumps(call.body).encode()
    answer = RouteAnswer()

    async def receive() -> Message:
        return {"type": "http.request", "body": payload, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")

    await request.app({**_scope(request, call, len(payload)), COUNTED: not counts}, receive, send)
    return answer


def _scope(request: Request, call: RouteCall, size: int) -> Scope:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(size).encode())]
    if (authorization := request.headers.get("authorization")) is not None:
        headers.append((b"authorization", authorization.encode("latin-1")))
    event = request.scope.get(EVENT) or {}
    return {
        "type": "http",
        "asgi": request.scope["asgi"],
        "http_version": request.scope["http_version"],
        "scheme": request.scope["scheme"],
        "server": request.scope.get("server"),
        "client": request.scope.get("client"),
        "root_path": "",
        "method": call.method,
        "path": unquote(call.path),
        "raw_path": call.path.encode(),
        "query_string": urlencode(call.query).encode(),
        "headers": headers,
        TRANSPORT: "mcp",
        # How long the caller can wait is told by the event's route, and which slashes are an id's by its raw path.
        EVENT: {
            **({"routeKey": event["routeKey"]} if "routeKey" in event else {}),
            "rawPath": call.path,
            **authorizer_part(request.scope),
        },
    }
