"""Writes a model call in the words of Converse.

Called by `text_model`; calls `capabilities` and `metadata`. Pure: it makes no call.
"""

from __future__ import annotations

import re

from hindsight_aws.aws.bedrock.capabilities import Capability
from hindsight_aws.aws.bedrock.metadata import encode_value
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, Tool, ToolResult, Turn

_CACHE_WORTH_CHARS = 4_000  # below about a thousand tokens a cache point is silently ignored
_CACHE_POINT: JsonObject = {"cachePoint": {"type": "default"}}
_LONGEST_NAME, _NOT_IN_NAMES = 64, re.compile(r"[^a-zA-Z0-9_-]")
_CACHED_TURNS = 2  # what the last call stored, and what this one adds


def converse_request(call: ModelCall, able: Capability, *, strict: bool = False) -> JsonObject:
    """The keyword arguments of `converse`. `strict` asks for enforced schemas where the model has them."""
    inference: JsonObject = {"maxTokens": min(call.max_tokens, able.max_output)}
    if call.temperature is not None and able.sampling:
        inference["temperature"] = call.temperature
    request: JsonObject = {
        "modelId": call.model,
        "messages": _messages(call, able),
        "system": _system(call, able),
        "inferenceConfig": inference,
        "requestMetadata": {
            "task": encode_value(call.task),
            "prompt": encode_value(call.prompt),
            "tenant": encode_value(call.tenant),
            "bank": encode_value(call.bank),
        },
    }
    if call.tools:
        request["toolConfig"] = _tool_config(call, able, strict and able.strict_schema)
    return request


def _system(call: ModelCall, able: Capability) -> list[JsonValue]:
    """The instructions; what is cached up to their end holds the tools too, for a provider reads those first."""
    system: list[JsonValue] = [{"text": call.system}]
    if able.cache_point and len(call.system) >= _CACHE_WORTH_CHARS:
        system.append(dict(_CACHE_POINT))
    return system


def _messages(call: ModelCall, able: Capability) -> list[JsonValue]:
    first: list[JsonValue] = [{"text": block} for block in call.blocks]
    messages: list[JsonValue] = [{"role": "user", "content": first}]
    for place, turn in enumerate(call.history, start=1):
        is_cached = able.cache_point and place > len(call.history) - _CACHED_TURNS
        messages.append({"role": "assistant", "content": _said(turn)})
        messages.append({"role": "user", "content": _answered(turn, is_cached=is_cached)})
    reminder = _reminder(call, able)
    if reminder:
        last = messages[-1]
        if isinstance(last, dict) and isinstance(content := last["content"], list):
            content.append({"text": reminder})
    return messages


def _said(turn: Turn) -> list[JsonValue]:
    content: list[JsonValue] = [{"text": turn.said}] if turn.said.strip() else []
    content += [
        {"toolUse": {"toolUseId": use.id, "name": _tool_name(use.name), "input": use.input}} for use in turn.uses
    ]
    return content


def _tool_name(made: str) -> str:
    """The name as a request may hold it: a model may have made one up that Bedrock does not take back."""
    return _NOT_IN_NAMES.sub("_", made)[:_LONGEST_NAME] or "unknown"


def _answered(turn: Turn, *, is_cached: bool) -> list[JsonValue]:
    """The results, then what is said only this once: a cache may serve all up to the last result next time."""
    content: list[JsonValue] = [{"toolResult": _result(result)} for result in turn.results]
    if is_cached and content:
        content.append(dict(_CACHE_POINT))
    content += [{"text": text} for text in turn.closing]
    return content


def _result(result: ToolResult) -> JsonObject:
    content: list[JsonValue] = [{"json": result.document}]
    wire: JsonObject = {"toolUseId": result.use_id, "content": content}
    return {**wire, "status": "error"} if result.failed else wire


def _tool_config(call: ModelCall, able: Capability, strict: bool) -> JsonObject:
    tools: list[JsonValue] = [{"toolSpec": _spec(tool, strict)} for tool in call.tools]
    config: JsonObject = {"tools": tools}
    if call.forced_tool and able.forced_tool:
        config["toolChoice"] = {"tool": {"name": call.forced_tool}}
    elif (call.forced_tool or call.any_tool) and able.any_tool:
        config["toolChoice"] = {"any": {}}
    return config


def _spec(tool: Tool, strict: bool) -> JsonObject:
    spec: JsonObject = {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}}
    return {**spec, "strict": True} if strict else spec


def _reminder(call: ModelCall, able: Capability) -> str | None:
    """What a model that cannot be forced is told instead."""
    if call.forced_tool and not able.forced_tool:
        return f"Answer by using the tool `{call.forced_tool}`, once, and write nothing else."
    if call.any_tool and not able.any_tool:
        return "Go on by using one of the tools, and write nothing else."
    return None
