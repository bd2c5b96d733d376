"""What a bank setting is: the kind of its value, the check it passes, and what it does here.

configuration/fields.py lists them all; configuration/config.py checks values with `check_value`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from hindsight_aws.errors import InvalidRequest

Check = Callable[[str, object], None]


class Kind(StrEnum):
    """The JSON type of a value, in the words of an error message."""

    BOOLEAN = "a boolean"
    INTEGER = "an integer"
    NUMBER = "a number"
    STRING = "a string"
    LIST = "a list"
    OBJECT = "an object"
    STRING_OR_LIST = "a string or a list"


@dataclass(frozen=True, slots=True)
class BankField:
    """One setting: what it means, what it accepts, and, if it has no effect here, why (`without_effect`)."""

    name: str
    kind: Kind
    says: str
    check: Check | None = None
    accepts: str = ""
    without_effect: str = ""


def type_of(value: object) -> str:
    """The name of a value's type in an error message."""
    return type(value).__name__


def matches_kind(kind: Kind, value: object) -> bool:
    """Whether a JSON value is of the kind: true is no integer, an integer is a number."""
    if kind is Kind.BOOLEAN:
        return isinstance(value, bool)
    if kind is Kind.INTEGER:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is Kind.NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is Kind.STRING:
        return isinstance(value, str)
    if kind is Kind.LIST:
        return isinstance(value, list)
    if kind is Kind.OBJECT:
        return isinstance(value, dict)
    return isinstance(value, str | list)


def check_value(field: BankField, value: object) -> None:
    """Accepts a value for the field.  Raises InvalidRequest naming the field and what it wants."""
    if not matches_kind(field.kind, value):
        raise InvalidRequest(f"{field.name} must be {field.kind}, got {type_of(value)}")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**31:
        raise InvalidRequest(f"{field.name} must be {field.kind} of at most 32 bits, got {str(value)[:20]}")
    if field.check is not None:
        field.check(field.name, value)


def at_least(least: int) -> Check:
    def check(name: str, value: object) -> None:
        if isinstance(value, int) and value < least:
            raise InvalidRequest(f"{name} must be an integer of at least {least}, got {value}")

    return check


def between(least: int, most: int) -> Check:
    def check(name: str, value: object) -> None:
        if isinstance(value, int) and not least <= value <= most:
            raise InvalidRequest(f"{name} must be an integer between {least} and {most}, got {value}")

    return check


def above_zero(name: str, value: object) -> None:
    if isinstance(value, int | float) and not 0 < value < float("inf"):
        raise InvalidRequest(f"{name} must be a number above 0, got {value}")


def one_of(*words: str) -> Check:
    def check(name: str, value: object) -> None:
        if str(value).lower() not in words:
            raise InvalidRequest(f"{name} must be one of {', '.join(words)}, got {str(value)[:40]!r}")

    return check


def strings(name: str, value: object) -> None:
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, str):
            raise InvalidRequest(f"{name} must be a list of strings, got {type_of(entry)} in it")
