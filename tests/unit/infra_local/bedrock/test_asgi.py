"""What becomes of a call whose caller hangs up while a slow model works on it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infra.local.bedrock.answers import Answer, ok
from infra.local.bedrock.asgi import application

pytestmark = pytest.mark.anyio

SCOPE = {"type": "http", "method": "POST", "raw_path": b"/model/m/converse", "query_string": b""}


class Speaks:
    def __init__(self, *, is_slow: bool) -> None:
        self.is_slow = is_slow


class MadeUpEndpoint:
    """Answers when told to; knows whether it was given up."""

    def __init__(self, *, is_slow: bool) -> None:
        self.speaker = Speaks(is_slow=is_slow)
        self.may_answer = asyncio.Event()
        self.was_given_up = False

    async def handle(self, method: str, path: str, query: str, body: bytes) -> Answer:
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.was_given_up = True
            raise
        return ok({"read": body.decode()})


class Caller:
    """Sends a body, then hangs up when told to; keeps what it is sent."""

    def __init__(self) -> None:
        self.hangs_up = asyncio.Event()
        self.sent: list[Any] = []
        self._has_asked = False

    async def receive(self) -> Any:
        if not self._has_asked:
            self._has_asked = True
            return {"type": "http.request", "body": b"hello", "more_body": False}
        await self.hangs_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


async def serve(endpoint: MadeUpEndpoint, caller: Caller) -> None:
    await application(endpoint)(SCOPE, caller.receive, caller.send)  # type: ignore[arg-type]  # fakes


async def test_a_slow_call_is_given_up_when_its_caller_hangs_up() -> None:
    endpoint, caller = MadeUpEndpoint(is_slow=True), Caller()
    caller.hangs_up.set()

    await asyncio.wait_for(serve(endpoint, caller), 60)
    await asyncio.sleep(0)

    assert endpoint.was_given_up
    assert caller.sent == []


@pytest.mark.parametrize("is_slow", [True, False])
async def test_a_caller_who_waits_is_answered(is_slow: bool) -> None:
    endpoint, caller = MadeUpEndpoint(is_slow=is_slow), Caller()
    endpoint.may_answer.set()

    await asyncio.wait_for(serve(endpoint, caller), 60)

    assert [message["type"] for message in caller.sent] == ["http.response.start", "http.response.body"]
    assert caller.sent[1]["body"] == b'{"read": "hello"}'
    assert not endpoint.was_given_up
