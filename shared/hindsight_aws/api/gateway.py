"""A FastAPI app as a Lambda handler: payload-v2 events of an HTTP API or a Function URL in, answers out.

Called by the doors in functions/; Mangum does the translation, without lifespan (it would run startup for each event).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast
from urllib.parse import quote

from fastapi import FastAPI
from mangum import Mangum

LambdaEvent = dict[str, Any]
LambdaAnswer = dict[str, Any]
LambdaHandler = Callable[[LambdaEvent, object], LambdaAnswer]

_UNRESERVED_IN_PATH = "/:@!$&'()*+,;=~"
_FUNCTION_URL_HOST = ".lambda-url."


def lambda_handler(app: FastAPI, *, is_local: bool) -> LambdaHandler:
    """A handler that answers one event at a time, in the thread that made it."""
    asyncio.set_event_loop(_loop())
    adapter = Mangum(app, lifespan="off")

    def handler(event: LambdaEvent, context: object) -> LambdaAnswer:
        asyncio.set_event_loop(_loop())
        return adapter(event if is_local else with_encoded_path(event), cast(Any, context))

    return handler


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The process's one event loop; Mangum asks for a current one and never makes or closes it."""
    return asyncio.new_event_loop()


def close_loop() -> None:
    """Closes the event loop, with its files; the next event makes another."""
    if _loop.cache_info().currsize:
        _loop().close()
        _loop.cache_clear()


def with_encoded_path(event: LambdaEvent) -> LambdaEvent:
    """The event with its path percent-encoded, as Mangum decodes it once more.

    An HTTP API decodes the path before it calls, a Function URL and the local gateway do not; decoded twice, the id
    `a%2541` would become another one.
    """
    request: Mapping[str, Any] = event.get("requestContext") or {}
    http = request.get("http")
    if not http or _FUNCTION_URL_HOST in str(request.get("domainName", "")):
        return event
    encoded = quote(str(http.get("path", "")), safe=_UNRESERVED_IN_PATH)
    return {**event, "requestContext": {**request, "http": {**http, "path": encoded}}}
