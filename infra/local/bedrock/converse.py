"""Converse on the wire: reads a request, refuses what Bedrock refuses, and writes replies, sound and broken ones.

Called by `app`; calls `shapes`. Pure.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool, ToolUse
from infra.local.bedrock.shapes import a_count, a_number, a_text, an_object, objects

_METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_METADATA = 16
_CHARS_PER_TOKEN = 4
REJECTED_KEYWORDS = ("minimum", "maximum", "minItems", "maxItems", "pattern")

Malformation = Literal["wrong_input", "cut", "prose", "malformed_tool_use"]
MALFORMATIONS: tuple[Malformation, ...] = ("wrong_input", "cut", "prose", "malformed_tool_use")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn: its texts, the tool uses in it, and the results in it by the id of their use."""

    role: str
    texts: tuple[str, ...]
    uses: tuple[ToolUse, ...]
    results: tuple[tuple[str, JsonValue], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A Converse request as the rules read it. `choice` is `auto`, `any`, or the name of the forced tool."""

    model: str
    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    choice: str
    metadata: JsonObject
    max_tokens: int | None
    temperature: float | None = None

    @property
    def user_texts(self) -> list[str]:
        """All texts of the user, in order."""
        return [text for message in self.messages if message.role == "user" for text in message.texts]

    @property
    def used(self) -> list[ToolUse]:
        """All tool uses so far, in order."""
        return [use for message in self.messages for use in message.uses]

    @property
    def results(self) -> list[JsonValue]:
        """All tool results so far, in order."""
        return [document for message in self.messages for _, document in message.results]

    @property
    def input_tokens(self) -> int:
        """About how many tokens were sent."""
        chars = sum(map(len, self.system)) + sum(len(t) for m in self.messages for t in m.texts)
        tools = [tool.schema for tool in self.tools]
        return (chars + len(json.dumps([self.results, tools]))) // _CHARS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: a text, the use of a tool, or both.

    `counted` are the tokens read and written where the model has a tokenizer; else they are estimated from the length.
    """

    text: str | None = None
    tool: str | None = None
    input: JsonObject | None = None
    stop: str = "end_turn"
    counted: tuple[int, int] | None = None

    def input_tokens(self, request: Request) -> int:
        """How many tokens of that request were read."""
        return request.input_tokens if self.counted is None else self.counted[0]

    @property
    def output_tokens(self) -> int:
        """How many tokens were written."""
        if self.counted is not None:
            return self.counted[1]
        return (len(self.text or "") + len(json.dumps(self.input or {}))) // _CHARS_PER_TOKEN + 1


def read_request(model: str, body: JsonObject) -> Request:
    """The request; what is missing or of another shape reads as absent."""
    config = an_object(body.get("toolConfig"))
    choice = an_object(config.get("toolChoice"))
    inference = an_object(body.get("inferenceConfig"))
    specs = [an_object(tool.get("toolSpec")) for tool in objects(config.get("tools")) if "toolSpec" in tool]
    return Request(
        model=model,
        system=tuple(a_text(part.get("text")) for part in objects(body.get("system")) if "text" in part),
        messages=tuple(_message(message) for message in objects(body.get("messages"))),
        tools=tuple(
            Tool(
                a_text(spec.get("name")),
                a_text(spec.get("description")),
                an_object(an_object(spec.get("inputSchema")).get("json")),
            )
            for spec in specs
        ),
        choice=a_text(an_object(choice.get("tool")).get("name")) or ("any" if "any" in choice else "auto"),
        metadata=an_object(body.get("requestMetadata")),
        max_tokens=a_count(inference.get("maxTokens")),
        temperature=a_number(inference.get("temperature")),
    )


def _message(wire: JsonObject) -> Message:
    parts = objects(wire.get("content"))
    uses = [an_object(part["toolUse"]) for part in parts if "toolUse" in part]
    results = [an_object(part["toolResult"]) for part in parts if "toolResult" in part]
    return Message(
        role=a_text(wire.get("role")),
        texts=tuple(a_text(part["text"]) for part in parts if "text" in part),
        uses=tuple(
            ToolUse(a_text(use.get("toolUseId")), a_text(use.get("name")), an_object(use.get("input"))) for use in uses
        ),
        results=tuple(
            (a_text(result.get("toolUseId")), part.get("json", part.get("text")))
            for result in results
            for part in objects(result.get("content")) or [JsonObject()]
        ),
    )


def refusal_of(request: Request) -> str | None:
    """Why Bedrock itself answers ValidationException, or None."""
    messages = request.messages
    if not messages or messages[0].role != "user":
        return "A conversation must start with a user message."
    if any(before.role == after.role for before, after in pairwise(messages)):
        return "A conversation must alternate between user and assistant roles."
    if any(not text.strip() for m in messages for text in m.texts) or any(not t.strip() for t in request.system):
        return "The text field in the ContentBlock object is blank."
    if any(not (message.texts or message.uses or message.results) for message in messages):
        return "The content field in a message is empty."
    return _metadata_refusal(request) or _tool_refusal(request)


def _metadata_refusal(request: Request) -> str | None:
    entries = [text for entry in request.metadata.items() for text in entry]
    if len(request.metadata) > _MOST_METADATA or not all(
        isinstance(t, str) and _METADATA.fullmatch(t) for t in entries
    ):
        return "requestMetadata holds too many entries, or a character that is not allowed."
    return None


def _tool_refusal(request: Request) -> str | None:
    names = [tool.name for tool in request.tools]
    if not all(_NAME.fullmatch(name) for name in [*names, *(use.id for use in request.used)]):
        return "A tool name or toolUseId does not match [a-zA-Z0-9_-]{1,64}."
    if len(set(names)) != len(names) or any(tool.schema.get("type") != "object" for tool in request.tools):
        return "Tool names must be unique and their schemas of type object."
    if request.choice not in {"auto", "any", *names}:
        return f"toolChoice names {request.choice}, which is not among the tools."
    if request.used and not request.tools:
        return "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    asked: set[str] = set()
    for message in request.messages:
        if {use_id for use_id, _ in message.results} != asked:
            return "Expected toolResult blocks for exactly the toolUse blocks of the previous turn."
        asked = {use.id for use in message.uses}
    return "The conversation ends with toolUse blocks that have no toolResult." if asked else None


def departures_of(request: Request, task: str | None) -> list[str]:
    """Where the call leaves the model contract although Bedrock would not mind."""
    schemas = json.dumps([tool.schema for tool in request.tools])
    found = [f"schema keyword {word}" for word in REJECTED_KEYWORDS if f'"{word}": ' in schemas]
    found += ["no maxTokens"] if not request.max_tokens else []
    found += ["no task in requestMetadata"] if task is None or request.metadata.get("task") != task else []
    return found


def malformed(reply: Reply, way: Malformation) -> Reply:
    """The reply, broken in one of the ways in which models break theirs."""
    whole = json.dumps(reply.input, ensure_ascii=False) if reply.input is not None else (reply.text or "")
    half = whole[: max(1, len(whole) // 2)]
    if way == "malformed_tool_use":
        return Reply(text="The tool use could not be parsed.", stop="malformed_tool_use")
    if way == "prose" or reply.tool is None:
        return Reply(text=f"Certainly! This is what I found: {half}", stop="end_turn")
    if way == "cut":
        kept = dict(list((reply.input or {}).items())[:1])
        return Reply(tool=reply.tool, input=kept, stop="max_tokens")
    return Reply(tool=reply.tool, input={"surprise": [1, 2, 3]}, stop="tool_use")


def write_reply(reply: Reply, request: Request, number: int, latency_ms: float) -> JsonObject:
    """The answer's body."""
    content: list[JsonValue] = [{"text": reply.text}] if reply.text is not None else []
    if reply.tool is not None:
        content.append({"toolUse": {"toolUseId": f"use_{number}", "name": reply.tool, "input": reply.input or {}}})
    read, written = reply.input_tokens(request), reply.output_tokens
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reply.stop,
        "metrics": {"latencyMs": int(latency_ms)},
        "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written},
    }
