"""Joins the endpoint to its server: whole bodies in, whole answers out.

Run by uvicorn; calls `app`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from infra.local.bedrock.answers import Answer
from infra.local.bedrock.app import BedrockEndpoint
from infra.local.bedrock.http_protocol import CUT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def application(endpoint: BedrockEndpoint) -> ASGIApp:
    """An ASGI application over that endpoint."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            event = await receive()
            if event["type"] != "http.request":
                return
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        path = scope["raw_path"].decode("latin-1").partition("?")[0]
        handling = endpoint.handle(scope["method"], path, scope["query_string"].decode("latin-1"), body)
        answer = await (_unless_left(handling, receive) if endpoint.speaker.is_slow else handling)
        if answer is None:
            return
        if answer.is_cut:
            scope["extensions"][CUT]["abort"]()
            return
        length = (b"content-length", str(len(answer.body)).encode())
        headers = [(b"content-type", b"application/json"), length, *answer.headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})

    return serve


async def _unless_left(handling: Coroutine[object, object, Answer], receive: Receive) -> Answer | None:
    """The answer, or None when the client hung up first: a model that needs minutes is not kept busy for nobody."""
    answering, leaving = asyncio.ensure_future(handling), asyncio.ensure_future(receive())
    await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
    if answering.done():
        leaving.cancel()
        return answering.result()
    answering.cancel()
    return None
