"""Arguments of tools: the vocabulary of their schemas, and what is made of what a client sends.

Wrong values are for the routes to refuse; here unknown arguments are dropped, defaults laid beneath, and lists and
objects read that models like to send as text.
"""

from __future__ import annotations

import json
from typing import Final

from hindsight_aws.api.mcp.tool import Arguments, Tool
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

_NULL: Final[JsonObject] = {"type": "null"}
_STRUCTURED: Final = frozenset({"array", "object"})


def text(said: str = "", default: str | None = None) -> JsonObject:
    """A string, required unless it has a default."""
    return _described({"type": "string", **({} if default is None else {"default": default})}, said)


def flag(default: bool, said: str = "") -> JsonObject:
    """A boolean."""
    return _described({"type": "boolean", "default": default}, said)


def number(default: int, said: str = "", *, least: int | None = None, most: int | None = None) -> JsonObject:
    """An integer within bounds."""
    bounds = {"minimum": least, "maximum": most}
    return _described({"type": "integer", "default": default, **_given(bounds)}, said)


def choice(names: str, default: str, said: str = "") -> JsonObject:
    """One of several words."""
    return _described({"type": "string", "enum": list(names.split()), "default": default}, said)


def strings() -> JsonObject:
    """A list of strings."""
    return {"type": "array", "items": {"type": "string"}}


def anything() -> JsonObject:
    """An object with any fields."""
    return {"type": "object", "additionalProperties": True}


def maybe(kind: JsonObject | str, said: str = "") -> JsonObject:
    """A value of a kind (a type's name is one), or null when it is left out."""
    schema: JsonObject = {"type": kind} if isinstance(kind, str) else kind
    return _described({"anyOf": [schema, _NULL], "default": None}, said)


def read_arguments(tool: Tool, given: JsonObject, *, bank: str, of_many: bool) -> Arguments:
    """The arguments, with the bank that they are about.  Raises InvalidRequest for one that is missing."""
    known = {**tool.arguments, **(tool.names_bank if of_many else {})}
    read: dict[str, JsonValue] = {}
    for name, schema in known.items():
        value = _parsed(given.get(name), schema)
        value = schema.get("default") if value is None else value
        if value is not None:
            read[name] = value
        elif name in tool.required:
            raise InvalidRequest(f"'{name}' is required")
    return {"bank_id": bank, **read} if tool.needs_bank else read


def _parsed(value: JsonValue, schema: JsonObject) -> JsonValue:
    """The value; a list or an object that came as JSON text is read, and text that is neither stays text."""
    if not isinstance(value, str) or not _kinds(schema) & _STRUCTURED:
        return value
    try:
        parsed: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if parsed is None or isinstance(parsed, list | dict) else value


def _kinds(schema: JsonObject) -> set[str]:
    each = schema.get("anyOf")
    schemas = each if isinstance(each, list) else [schema]
    return {str(one.get("type")) for one in schemas if isinstance(one, dict)}


def _described(schema: JsonObject, said: str) -> JsonObject:
    return {**schema, "description": said} if said else schema


def _given(values: dict[str, int | None]) -> JsonObject:
    return {name: value for name, value in values.items() if value is not None}
