"""Reads what Converse answered, and accepts nothing that is cut, refused or of another shape.

Called by `text_model`; calls `text.sanitise`. Pure. What leaves here can be stored: no string or key of it holds what
Postgres refuses.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from hindsight_aws.errors import ModelRefused, ModelReplyMalformed, ModelReplyTruncated
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, TokenUsage, Tool, ToolUse
from hindsight_aws.text.sanitise import clean

_REFUSED = frozenset({"guardrail_intervened", "content_filtered"})
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_BROKEN = frozenset({"malformed_model_output", "malformed_tool_use"})
_DECODER = json.JSONDecoder()
_OPENING = re.compile(r'\{\s*"|\[\s*\{\s*"')
_LOOKS = 64  # documents looked at in one text


def tokens_of(response: JsonObject) -> TokenUsage:
    """The tokens the answer was billed for; zero for what it does not say."""
    usage = response.get("usage")
    counts = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) else 0

    return TokenUsage(
        count("inputTokens"), count("outputTokens"), count("cacheReadInputTokens"), count("cacheWriteInputTokens")
    )


def read_reply(response: JsonObject, call: ModelCall) -> tuple[tuple[ToolUse, ...], str, str]:
    """Tool uses, text and stop reason of a complete reply.

    For a forced tool there is exactly one use, that tool's; a text that holds the tool's input as JSON stands for it.

    Raises: ModelRefused, ModelReplyTruncated, ModelReplyMalformed.
    """
    stop = response.get("stopReason")
    if stop in _REFUSED:
        raise ModelRefused(f"the reply was withheld: {stop}")
    if stop in _CUT:
        raise ModelReplyTruncated(f"the reply was cut: {stop}")
    if stop in _BROKEN or not isinstance(stop, str):
        raise ModelReplyMalformed(f"the model could not write its reply: {stop}")
    content = _content(response)
    text = clean("\n".join(said for part in content if isinstance(said := part.get("text"), str)))
    uses = tuple(_use(part["toolUse"], call) for part in content if "toolUse" in part)
    if call.forced_tool is None:
        if not uses and not text.strip():
            raise ModelReplyMalformed("the reply is empty")
        return uses, text, clean(stop)
    return (_forced(uses, text, call, call.forced_tool),), text, clean(stop)


def _content(response: JsonObject) -> list[JsonObject]:
    output = response.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        raise ModelReplyMalformed("the reply holds no message")
    return [part for part in content if isinstance(part, dict)]


def _use(wire: JsonValue, call: ModelCall) -> ToolUse:
    if not isinstance(wire, dict):
        raise ModelReplyMalformed("a tool use is not an object")
    name = clean(str(wire.get("name", "")))
    tool = next((tool for tool in call.tools if tool.name == name), None)
    return ToolUse(clean(str(wire.get("toolUseId", ""))), name, _input(wire.get("input"), tool))


def _input(value: JsonValue, tool: Tool | None) -> JsonObject:
    """The input as an object, fit to store; JSON text where the schema wants a list or an object is unwrapped."""
    value = _unwrapped(value) if isinstance(value, str) else value
    if isinstance(value, list) and tool is not None:
        value = _standing_for(value, tool) or value
    if not isinstance(value, dict):
        raise ModelReplyMalformed(f"the input of a tool use is not an object but {type(value).__name__}")
    properties = tool.schema.get("properties") if tool else None
    if not isinstance(properties, dict):
        properties = {}
    try:
        return {clean(name): _fit(_as_declared(field, properties.get(name))) for name, field in value.items()}
    except RecursionError:
        raise ModelReplyMalformed("the input of a tool use is nested too deeply") from None


def _fit(value: JsonValue) -> JsonValue:
    """The value with every string and key cleaned; a number that JSON cannot write (NaN, infinity) becomes null."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(name): _fit(field) for name, field in value.items()}
    if isinstance(value, list):
        return [_fit(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_declared(value: JsonValue, schema: JsonValue) -> JsonValue:
    wanted = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(value, str) or wanted not in {"array", "object"}:
        return value
    inner = _unwrapped(value)
    return inner if isinstance(inner, list if wanted == "array" else dict) else value


def _unwrapped(text: str) -> JsonValue:
    try:
        inner: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return inner


def _forced(uses: tuple[ToolUse, ...], text: str, call: ModelCall, name: str) -> ToolUse:
    matching = [use for use in uses if use.name == name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise ModelReplyMalformed(f"the reply uses {name} {len(matching)} times where one use was asked for")
    tool = next(tool for tool in call.tools if tool.name == name)
    for candidate in _json_in(text):
        whole = _standing_for(candidate, tool)
        if whole is not None:
            return ToolUse("", name, _input(whole, tool))
    raise ModelReplyMalformed(f"the reply neither uses {name} nor holds its input as JSON")


def _standing_for(value: JsonValue, tool: Tool) -> JsonObject | None:
    """`value` if it is the tool's input; a bare list stands for a tool whose input is one list."""
    required = tool.schema.get("required")
    names = [str(name) for name in required] if isinstance(required, list) else []
    if isinstance(value, dict):
        return value if names and all(name in value for name in names) else None
    if isinstance(value, list) and len(names) == 1 and value and all(isinstance(item, dict) for item in value):
        return {names[0]: value}
    return None


def _json_in(text: str) -> Iterator[JsonValue]:
    """The JSON objects and lists of objects in a text, outermost ones, in order; prose and code fences are skipped.

    Where one begins and does not end, nothing after it counts: what stands inside a cut document is not the whole.
    """
    at = 0
    for _ in range(_LOOKS):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            return
        yield value
