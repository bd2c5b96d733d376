"""The words the contract is written in: JSON Schema pieces every model accepts, and what a task is made of.

Called by the contract's modules; calls nothing. Schemas are closed and use no keyword that Bedrock rejects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool

Choice = Literal["forced", "any"]


def text(description: str = "") -> JsonObject:
    """A string."""
    return _described({"type": "string"}, description)


def integer(description: str = "") -> JsonObject:
    """A whole number; its bounds are checked in code."""
    return _described({"type": "integer"}, description)


def boolean(description: str = "") -> JsonObject:
    """True or false."""
    return _described({"type": "boolean"}, description)


def one_of(*values: str, description: str = "") -> JsonObject:
    """One of a few words."""
    return _described({"type": "string", "enum": list(values)}, description)


def array(items: JsonObject, description: str = "") -> JsonObject:
    """A list; its length is checked in code."""
    return _described({"type": "array", "items": items}, description)


def closed(required: str, **properties: JsonObject) -> JsonObject:
    """An object with these properties and no others; `required` names some of them, separated by spaces."""
    names: list[JsonValue] = [*required.split()]
    return {"type": "object", "properties": {**properties}, "required": names, "additionalProperties": False}


def any_of(*alternatives: JsonObject) -> JsonObject:
    """One of several objects."""
    return {"anyOf": [*alternatives]}


def _described(schema: JsonObject, description: str) -> JsonObject:
    return {**schema, "description": description} if description else schema


@dataclass(frozen=True, slots=True)
class Block:
    """One kind of data block: `document` is a schema of the JSON that stands in it."""

    kind: str
    says: str
    document: JsonObject
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """What one task sends and may get back.

    `choice` says whether one tool is forced or any of `tools` must be used; `ids` names what each kind of id in it is.
    """

    name: str
    says: str
    tools: tuple[Tool, ...]
    choice: Choice
    blocks: tuple[Block, ...]
    ids: tuple[tuple[str, str], ...] = ()

    def as_document(self) -> JsonObject:
        """This task as plain JSON."""
        return {
            "task": self.name,
            "says": self.says,
            "tool_choice": self.choice,
            "tools": [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in self.tools],
            "data_blocks": [
                {"kind": b.kind, "says": b.says, "optional": b.optional, "document": b.document} for b in self.blocks
            ],
            "ids": dict[str, JsonValue](self.ids),
        }
