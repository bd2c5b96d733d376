"""One call at a time over a made-up runtime that streams as the real one does; and the speaker's way of failing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from infra.local.bedrock.converse import Message, Reply, Request
from infra.local.bedrock.qwen.engine import Engine, InputTooLong, ModelBroke, Prompt
from infra.local.bedrock.qwen.speaker import QwenSpeaker
from infra.local.bedrock.rules.material import Material
from infra.local.bedrock.scripts import Failure

pytestmark = pytest.mark.anyio

HELLO = Prompt(({"role": "user", "content": "hello"},), {"type": "object"}, 50, None)
LOOK = Tool("look", "Finds.", {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]})


class MadeUp:
    """Streams the given pieces; notes what was asked and how many calls were under way at once."""

    def __init__(self, *pieces: str, ends: str = "stop", read: int = 7, gate: threading.Event | None = None) -> None:
        self.pieces, self.ends, self.read, self.gate = pieces, ends, read, gate
        self.bodies: list[JsonObject] = []
        self.heard = 0
        self.begun = threading.Event()
        self.peak = 0
        self._busy = 0

    def handle_chat_completions(self, body: JsonObject, heard: Callable[[Any], bool | None]) -> object:
        self.bodies.append(body)
        self._busy += 1
        self.begun.set()
        self.peak = max(self.peak, self._busy)
        if self.gate is not None:
            assert self.gate.wait(60)
        for piece in self.pieces:
            self.heard += 1
            if heard({"choices": [{"delta": {"content": piece}, "finish_reason": None}]}):
                self._busy -= 1
                return None
        heard([{"choices": [{"delta": {}, "finish_reason": self.ends}]}])
        heard({"choices": [], "usage": {"prompt_tokens": self.read, "completion_tokens": len(self.pieces)}})
        self._busy -= 1
        return None


class Refuses:
    """Answers each call with an error document, as the runtime does."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def handle_chat_completions(self, body: JsonObject, heard: Callable[[Any], bool | None]) -> object:
        heard({"error": {"code": 400, "type": self.kind, "message": "request (9000 tokens) exceeds the context"}})
        return None


def asked(*, choice: str = "look", max_tokens: int | None = 50, temperature: float | None = None) -> Request:
    said = Message("user", ("hello",), (), ())
    return Request("m", ("Rules.",), (said,), (LOOK,), choice, {}, max_tokens, temperature)


async def spoken(runtime: object, request: Request) -> Reply | Failure:
    speaker = QwenSpeaker(Engine(runtime))  # type: ignore[arg-type]  # a fake of the one method used
    return await speaker.reply("extract_facts", request, Material({}))


async def test_the_pieces_are_joined_and_the_tokens_are_the_runtimes_own() -> None:
    said = await Engine(MadeUp('{"a"', ": 1}")).say(HELLO)

    assert (said.text, said.read, said.written, said.is_cut) == ('{"a": 1}', 7, 2, False)


async def test_limits_and_grammar_go_with_the_call() -> None:
    runtime = MadeUp("{}")

    await Engine(runtime).say(HELLO)

    body = runtime.bodies[0]
    assert body["max_tokens"] == 50
    assert body["grammar"] == '%llguidance {}\nstart: %json {"type": "object"}'
    assert body["temperature"] == 0.2


async def test_calls_that_come_meanwhile_wait_their_turn() -> None:
    runtime = MadeUp("{}")
    engine = Engine(runtime)

    await asyncio.gather(*(engine.say(HELLO) for _ in range(5)))

    assert (len(runtime.bodies), runtime.peak) == (5, 1)


async def test_a_call_whose_caller_has_gone_ends_at_the_next_token_and_one_in_the_queue_is_never_made() -> None:
    gate = threading.Event()
    runtime = MadeUp("a", "b", "c", gate=gate)
    engine = Engine(runtime)
    first, second = asyncio.ensure_future(engine.say(HELLO)), asyncio.ensure_future(engine.say(HELLO))
    assert await asyncio.to_thread(runtime.begun.wait, 10)

    first.cancel()
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    gate.set()
    last = await engine.say(HELLO)

    assert last.text == "abc"
    assert len(runtime.bodies) == 2
    assert runtime.heard == 1 + 3


async def test_a_message_past_the_context_window_is_told_apart_from_other_failures() -> None:
    with pytest.raises(InputTooLong, match="9000 tokens"):
        await Engine(Refuses("exceed_context_size_error")).say(HELLO)
    with pytest.raises(ModelBroke):
        await Engine(Refuses("server_error")).say(HELLO)


async def test_a_forced_tool_is_answered_with_its_use_and_true_token_counts() -> None:
    reply = await spoken(MadeUp('{"query": ', '"kayak"}'), asked())

    assert reply == Reply(tool="look", input={"query": "kayak"}, stop="tool_use", counted=(7, 2))


async def test_a_reply_cut_at_its_limit_says_so() -> None:
    reply = await spoken(MadeUp('{"query": ', '"kay', ends="length"), asked(max_tokens=2))

    assert isinstance(reply, Reply)
    assert (reply.stop, reply.tool, reply.text) == ("max_tokens", None, '{"query": "kay')


async def test_a_reply_cut_by_the_context_window_says_that() -> None:
    reply = await spoken(MadeUp('{"query": ', '"kay', ends="length"), asked(max_tokens=50))

    assert isinstance(reply, Reply)
    assert reply.stop == "model_context_window_exceeded"


async def test_too_long_an_input_is_refused_as_bedrock_refuses_it() -> None:
    reply = await spoken(Refuses("exceed_context_size_error"), asked())

    assert isinstance(reply, Failure)
    assert (reply.status, reply.kind) == (400, "ValidationException")
    assert reply.message.startswith("Input is too long")


async def test_a_runtime_that_breaks_is_a_model_error() -> None:
    reply = await spoken(Refuses("server_error"), asked())

    assert isinstance(reply, Failure)
    assert (reply.status, reply.kind) == (424, "ModelErrorException")


async def test_the_callers_temperature_is_kept() -> None:
    runtime = MadeUp("{}")

    await spoken(runtime, asked(temperature=0.0))

    assert runtime.bodies[0]["temperature"] == 0.0
