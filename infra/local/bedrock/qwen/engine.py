"""Runs the model in one thread, one call at a time; calls that come meanwhile queue.

Called by `speaker`; calls the runtime. A call whose caller has gone leaves the queue, or ends at its next token.
"""

from __future__ import annotations

import asyncio
import json
import queue
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.shapes import a_count, a_text, an_object, objects

_SEED = 1
_HOW_TO_CHOOSE: JsonObject = {"top_k": 20, "top_p": 0.8, "repeat_penalty": 1.05, "seed": _SEED}
_TEMPERATURE = 0.2
_TOO_LONG = "exceed_context_size_error"

Heard: TypeAlias = "Callable[[Any], bool | None]"


class InputTooLong(ValueError):
    """The messages do not fit the context window; the message says by how much."""


class ModelBroke(RuntimeError):
    """The runtime refused the call or failed in it; the message is its own."""


class Runtime(Protocol):
    """What is used of `xllamacpp.Server`: a streamed chat completion, ended early when `heard` answers True."""

    def handle_chat_completions(self, body: JsonObject, heard: Heard) -> object:
        """Hands each chunk, a document or a list of them, to `heard`; returns at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call. `schema` None leaves the text free; `max_tokens` None lets it run to the end of the context window."""

    messages: tuple[JsonObject, ...]
    schema: JsonObject | None
    max_tokens: int | None
    temperature: float | None


@dataclass(frozen=True, slots=True)
class Said:
    """What came: the text, tokens read and written as the model's own tokenizer counts them, and whether it was cut."""

    text: str
    read: int
    written: int
    is_cut: bool


_Waiting: TypeAlias = "tuple[Prompt, asyncio.AbstractEventLoop, asyncio.Future[Said]]"


class Engine:
    """Says one thing at a time."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._waiting: queue.SimpleQueue[_Waiting] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="qwen", daemon=True).start()

    async def say(self, prompt: Prompt) -> Said:
        """The model's text. Cancelling gives the model back. Raises: InputTooLong, ModelBroke."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Said] = loop.create_future()
        self._waiting.put((prompt, loop, answer))
        return await answer

    def _work(self) -> None:
        while True:
            prompt, loop, answer = self._waiting.get()
            if answer.cancelled():
                continue
            try:
                outcome: Said | Exception = _completion(self._runtime, prompt, answer.cancelled)
            except (InputTooLong, ModelBroke) as failure:
                outcome = failure
            loop.call_soon_threadsafe(_deliver, answer, outcome)


def _deliver(answer: asyncio.Future[Said], outcome: Said | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _completion(runtime: Runtime, prompt: Prompt, is_left: Callable[[], bool]) -> Said:
    chunks: list[JsonObject] = []

    def heard(chunk: Any) -> bool:
        chunks.extend(objects(chunk) if isinstance(chunk, list) else [an_object(chunk)])
        return is_left()

    try:
        returned = runtime.handle_chat_completions(_body(prompt), heard)
    except RuntimeError as failure:
        raise ModelBroke(str(failure)) from failure
    if isinstance(returned, dict):
        chunks.append(returned)
    return _said(chunks)


def _body(prompt: Prompt) -> JsonObject:
    body: JsonObject = {
        **_HOW_TO_CHOOSE,
        "messages": [*prompt.messages],
        "temperature": _TEMPERATURE if prompt.temperature is None else prompt.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if prompt.max_tokens is not None:
        body["max_tokens"] = prompt.max_tokens
    if prompt.schema is not None:  # as a grammar of llguidance: the way by which `x-guidance` gets through
        body["grammar"] = f"%llguidance {{}}\nstart: %json {json.dumps(prompt.schema)}"
    return body


def _said(chunks: list[JsonObject]) -> Said:
    """The chunks joined. Raises: InputTooLong, ModelBroke."""
    text, is_cut, usage = "", False, JsonObject()
    for chunk in chunks:
        if "error" in chunk:
            raise _failure(an_object(chunk["error"]))
        for choice in objects(chunk.get("choices")):
            text += a_text(an_object(choice.get("delta")).get("content"))
            is_cut = is_cut or choice.get("finish_reason") == "length"
        usage = an_object(chunk.get("usage")) or usage
    return Said(text, _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens"), is_cut)


def _failure(error: JsonObject) -> Exception:
    message = a_text(error.get("message")) or "the runtime gave no reason"
    return InputTooLong(message) if error.get("type") == _TOO_LONG else ModelBroke(message)


def _tokens(usage: JsonObject, name: str) -> int:
    value: JsonValue = usage.get(name)
    return a_count(value) or 0


def load(model: Path, threads: int, context: int) -> Runtime:
    """The model in memory. `threads` compute; they do not spin while they wait, for others need the cores too."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.verbosity = 0
    parameters.api_keys = [secrets.token_hex()]  # the runtime also listens on the loopback: nobody is to use that door
    for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
        cpu.n_threads = threads
        cpu.poll = 0
    server: Runtime = xllamacpp.Server(parameters)
    return server
