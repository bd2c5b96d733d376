"""Puts a Converse request into chat messages: instructions and tools in the system, data and tool results as the user.

Called by `speaker`; calls nothing. Pure. The model's own chat template, kept in its file, adds the marks between turns.
"""

from __future__ import annotations

import json

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool
from infra.local.bedrock.converse import Message, Request
from infra.local.bedrock.qwen.expected import Expected

_ANSWER = "# Your answer"
_TURN_MARK, _NO_MARK = "<|", "< |"  # the runtime reads `<|im_end|>` and its kin as marks wherever they stand


def chat_of(request: Request, expected: Expected) -> list[JsonObject]:
    """Messages with `role` and `content`, alternating as Converse's do. No text in them can pass for a turn's mark."""
    system = "\n\n".join([*request.system, *_about_tools(request, expected)])
    names = {use.id: use.name for use in request.used}
    turns = [(message.role, _content(message, names)) for message in request.messages]
    said = [("system", system), *turns] if system else turns
    return [{"role": role, "content": text.replace(_TURN_MARK, _NO_MARK)} for role, text in said]


def _about_tools(request: Request, expected: Expected) -> list[str]:
    if expected.schema is None:
        return []
    shown = [_described(tool) for tool in request.tools if expected.forced in {None, tool.name}]
    return ["\n\n".join([_ANSWER, _form(request, expected), *shown])]


def _form(request: Request, expected: Expected) -> str:
    if expected.forced is not None:
        return "It is one JSON object and nothing else: the input of this tool. Leave out what you have nothing for."
    plain = ', or {"answer": a text} when no tool is needed' if request.choice == "auto" else ""
    return f'It is one JSON object and nothing else: {{"tool": a tool\'s name, "input": its input}}{plain}. The tools:'


def _described(tool: Tool) -> str:
    return f"`{tool.name}`: {tool.description}\n{_compact(tool.schema)}"


def _content(message: Message, names: dict[str, str]) -> str:
    parts = [f"Result of `{names.get(use_id, 'tool')}`:\n{_compact(document)}" for use_id, document in message.results]
    parts += message.texts
    parts += [_compact({"tool": use.name, "input": use.input}) for use in message.uses]
    return "\n\n".join(parts)


def _compact(document: JsonValue) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(", ", ": "))
