"""The official MCP client on the app in this process, and messages as hostile clients send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from hindsight_aws.api.app import GROUPS
from tests.support.api import Answer, Caller, FakeRuntime, app_of

Kept = TypeVar("Kept")
_FIXTURE = Path(__file__).parents[1] / "fixtures" / "hindsight-1.1.0" / "mcp-tools.json"


def recorded_tools(kind: str) -> Mapping[str, Any]:
    """The recorded server's tools by name; `kind` is `multi` or `single`."""
    tools: Mapping[str, Any] = json.loads(_FIXTURE.read_text(encoding="utf-8"))[kind]
    return tools


def in_session(
    services: FakeRuntime,
    path: str,
    use: Callable[[Client], Awaitable[Kept]],
    *,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
    mode: str = "auto",
) -> Kept:
    """What `use` makes of a session of the official client at this path."""
    sent = {**({"authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
    app = app_of(frozenset(GROUPS), services)
    app.state.services = services

    async def run() -> Kept:
        transport = httpx2.ASGITransport(app=app)
        async with (
            httpx2.AsyncClient(transport=transport, headers=sent) as http,
            Client(streamable_http_client(f"http://api.example{path}", http_client=http), mode=mode) as client,
        ):
            return await use(client)

    return asyncio.run(run())


def post(call: Caller, message: object, path: str = "/mcp/b", **headers: str) -> Answer:
    """The answer to a message as it is; header names are written with underscores."""
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    return call("POST", path, raw=raw, headers={name.replace("_", "-"): value for name, value in headers.items()})


def ask(call: Caller, method: str, params: object = None, path: str = "/mcp/b", **headers: str) -> Any:
    """What a request of JSON-RPC is answered: its whole message."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": method}
    return post(call, message if params is None else {**message, "params": params}, path, **headers).json()


def use_tool(call: Caller, name: str, path: str = "/mcp/b", /, **arguments: object) -> tuple[Any, bool]:
    """What a tool answers, as its text says it, and whether it failed."""
    result = ask(call, "tools/call", {"name": name, "arguments": arguments}, path)["result"]
    return json.loads(result["content"][0]["text"]), result["isError"]
