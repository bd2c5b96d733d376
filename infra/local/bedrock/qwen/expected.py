"""What a reply must look like: the grammar's JSON schema for one tool or a choice of several, and how to read it back.

Called by `speaker`; calls nothing. Pure. The grammar itself is made by the runtime (llguidance) from this schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool
from infra.local.bedrock.converse import Reply, Request

_LONGEST_TEXT = 1_500  # characters; a small model that has begun to repeat itself would go on to the output limit
_LONGEST_LIST = 12
_SPACING: JsonObject = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_KNOWN = frozenset(
    {
        "$defs", "$ref", "additionalProperties", "anyOf", "const", "enum", "items", "maxItems", "maxLength", "minItems",
        "minLength", "properties", "required", "type",
    }
)  # fmt: skip
"""What the grammar may hold. One that the runtime cannot make is silently not applied, so nothing else is passed on."""

_NAMED = frozenset({"$defs", "properties"})
_LITERAL = frozenset({"const", "enum", "required"})


@dataclass(frozen=True, slots=True)
class Expected:
    """What may come: the input of the forced tool, one of several tools with its input, or free text (no schema)."""

    schema: JsonObject | None
    forced: str | None

    def read(self, said: str) -> Reply:
        """The reply in Converse's terms; what does not parse is passed on as text, as Bedrock does."""
        if self.schema is None:
            return Reply(text=said)
        try:
            document: JsonValue = json.loads(said)
        except ValueError:
            return Reply(text=said)
        if not isinstance(document, dict):
            return Reply(text=said)
        if self.forced is not None:
            return Reply(tool=self.forced, input=document, stop="tool_use")
        name, given = document.get("tool"), document.get("input")
        if isinstance(name, str) and isinstance(given, dict):
            return Reply(tool=name, input=given, stop="tool_use")
        answer = document.get("answer")
        return Reply(text=answer if isinstance(answer, str) else said)


def expected_of(request: Request) -> Expected:
    """What the request leaves open: nothing but the input, which tool, or, for `auto`, also a plain answer."""
    tools = request.tools
    if not tools:
        return Expected(None, None)
    forced = next((tool for tool in tools if tool.name == request.choice), None)
    if forced is None and request.choice == "any" and len(tools) == 1:
        forced = tools[0]
    if forced is not None:
        return Expected({**bounded(forced.schema), "x-guidance": _SPACING}, forced.name)
    ways: list[JsonValue] = [_use_of(tool) for tool in tools]
    if request.choice == "auto":
        ways.append(_closed({"answer": {"type": "string"}}))
    return Expected({"anyOf": ways, "x-guidance": _SPACING}, None)


def bounded(schema: JsonObject) -> JsonObject:
    """The schema in keywords a grammar can be made of, with a bound on every text and list that has none."""
    plain: JsonObject = {}
    for key, value in schema.items():
        if key not in _KNOWN:
            continue
        if key in _NAMED and isinstance(value, dict):  # names chosen by whoever wrote the schema, not keywords
            plain[key] = {name: _bounded(inner) for name, inner in value.items()}
        else:
            plain[key] = value if key in _LITERAL else _bounded(value)
    if plain.get("type") == "string" and "enum" not in plain:
        plain.setdefault("maxLength", _LONGEST_TEXT)
    if plain.get("type") == "array":
        plain.setdefault("maxItems", _LONGEST_LIST)
    return plain


def _bounded(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return bounded(value)
    if isinstance(value, list):
        return [_bounded(item) for item in value]
    return value


def _use_of(tool: Tool) -> JsonObject:
    """The tool comes first, so that its choice decides the input's form."""
    return _closed({"tool": {"enum": [tool.name]}, "input": bounded(tool.schema)})


def _closed(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
