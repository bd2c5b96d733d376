"""Holds a structured answer against the caller's whole schema, in the caller's own keywords.  Pure.

Called by the check of `structured_answer`.  `pattern` and `format` are told to the model and not checked: a pattern may
take longer to match than any answer is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.asking.structure import resolved

_MOST_PROBLEMS: Final = 5
_DEEPEST: Final = 32
_MOST_STEPS: Final = 50_000
_LONGEST_PLACE: Final = 120


def problems_of(value: JsonValue, schema: JsonObject) -> list[str]:
    """What does not fit the schema, each with its place; the first few of it, or nothing.

    A comparison that takes too many steps, as forms within forms may, counts as a problem.
    """
    return list(islice(_Comparison(schema).problems(value, schema, "$", 0), _MOST_PROBLEMS))


class _Comparison:
    """One value held against one schema, in a bounded number of steps."""

    def __init__(self, whole: JsonObject) -> None:
        self._whole = whole
        self._steps = 0

    def problems(self, value: JsonValue, schema: JsonValue, at: str, depth: int) -> Iterator[str]:
        """What does not fit, as it is found."""
        self._steps += 1
        if not isinstance(schema, dict):
            return
        if depth > _DEEPEST or self._steps > _MOST_STEPS:
            yield f"{_short(at)} is too deep or too much to compare"
            return
        if "$ref" in schema:
            yield from self.problems(value, resolved(schema, self._whole), at, depth + 1)
            return
        kinds = schema.get("type")
        wanted = kinds if isinstance(kinds, list) else [] if kinds is None else [kinds]
        if wanted and not any(_is_kind(value, kind) for kind in wanted):
            yield f"{_short(at)} must be {' or '.join(map(str, wanted))}"
            return
        yield from self._choice_problems(value, schema, at, depth)
        yield from _limit_problems(value, schema, at)
        if isinstance(value, dict):
            yield from self._object_problems(value, schema, at, depth)
        elif isinstance(value, list):
            for place, item in enumerate(value):
                yield from self.problems(item, schema.get("items"), f"{at}[{place}]", depth + 1)

    def _choice_problems(self, value: JsonValue, schema: JsonObject, at: str, depth: int) -> Iterator[str]:
        if "enum" in schema and not any(_equal(value, one) for one in _listed(schema, "enum")):
            yield f"{_short(at)} must be one of the values listed for it"
        if "const" in schema and not _equal(value, schema["const"]):
            yield f"{_short(at)} must be the value given for it"
        for part in _listed(schema, "allOf"):
            yield from self.problems(value, part, at, depth + 1)
        for keyword, most in (("anyOf", None), ("oneOf", 1)):
            options = _listed(schema, keyword)
            fitting = sum(1 for one in options if next(self.problems(value, one, at, depth + 1), None) is None)
            if options and (fitting == 0 or (most is not None and fitting > most)):
                yield f"{_short(at)} must fit {'one' if most is None else 'exactly one'} of its forms"

    def _object_problems(self, value: JsonObject, schema: JsonObject, at: str, depth: int) -> Iterator[str]:
        properties = schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        for name in _listed(schema, "required"):
            if name not in value:
                yield f"{_short(at)} must have {name!r}"
        others = schema.get("additionalProperties", True)
        for name, field in value.items():
            if name in known:
                yield from self.problems(field, known[name], f"{at}.{name}", depth + 1)
            elif others is False:
                yield f"{_short(at)} must not have {name[:60]!r}"
            else:
                yield from self.problems(field, others, f"{at}.{name}", depth + 1)


def _limit_problems(value: JsonValue, schema: JsonObject, at: str) -> Iterator[str]:
    kind, measured = _measured(value)
    for keyword, fits in _LIMITS.items():
        limit = schema.get(keyword)
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not kind or not keyword.endswith(kind):
            continue
        if not fits(measured, limit):
            yield f"{_short(at)} must keep {keyword} {limit}"


def _measured(value: JsonValue) -> tuple[str, float]:
    """What its limits are called, and what they measure of it; no limits: an empty name."""
    if isinstance(value, str):
        return "Length", len(value)
    if isinstance(value, list):
        return "Items", len(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "imum", value
    return "", 0


_LIMITS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "minLength": lambda measured, limit: measured >= limit,
    "maxLength": lambda measured, limit: measured <= limit,
    "minItems": lambda measured, limit: measured >= limit,
    "maxItems": lambda measured, limit: measured <= limit,
    "minimum": lambda measured, limit: measured >= limit,
    "maximum": lambda measured, limit: measured <= limit,
    "exclusiveMinimum": lambda measured, limit: measured > limit,
    "exclusiveMaximum": lambda measured, limit: measured < limit,
}


def _is_kind(value: JsonValue, kind: JsonValue) -> bool:
    if isinstance(value, bool) or value is None:
        return kind == ("boolean" if isinstance(value, bool) else "null")
    if kind == "number":
        return isinstance(value, int | float)
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    expected = {"string": str, "array": list, "object": dict}.get(str(kind))
    return expected is not None and isinstance(value, expected)


def _equal(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON: true is no 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _short(at: str) -> str:
    return at[:_LONGEST_PLACE]


def _listed(schema: JsonObject, keyword: str) -> list[JsonValue]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []
