"""Narrows JSON of unknown make to the shape a reader can use, without trusting it.

Called by every reader of this endpoint; calls nothing.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue


def an_object(value: JsonValue) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def a_list(value: JsonValue) -> list[JsonValue]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: JsonValue) -> list[JsonObject]:
    """The objects of a list."""
    return [item for item in a_list(value) if isinstance(item, dict)]


def a_text(value: JsonValue) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def texts(value: JsonValue) -> list[str]:
    """The texts of a list."""
    return [item for item in a_list(value) if isinstance(item, str)]


def a_count(value: JsonValue) -> int | None:
    """The value if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def a_number(value: JsonValue) -> float | None:
    """The value if it is a number."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
