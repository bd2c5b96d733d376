"""A caller's own schema for an answer: whether it can be asked for, and what of it a model is shown.

Pure; called by the API's body and by model_call.py.  conformance.py holds a reply against the whole schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from hindsight_aws.errors import InvalidField
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool

FIELD: Final = "response_schema"
TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
MOST_CHARACTERS: Final = 32_000
DEEPEST: Final = 12
MOST_SCHEMAS: Final = 400

_CHOICES: Final = ("anyOf", "oneOf")
_DEFINITIONS: Final = ("$defs", "definitions")
_TOLD: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format")
_LONGEST_DESCRIPTION: Final = 1_000


def check_response_schema(schema: Mapping[str, object]) -> None:
    """Lets a schema pass that describes an object with at least one property, of bounded size and depth.

    Types are the seven of JSON, `required` names properties, and a `$ref` leads to a definition within the schema.

    Raises: InvalidField naming the place, such as `response_schema.properties.age.type`.
    """
    try:
        size = len(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError):
        raise InvalidField(FIELD, "is nested too deeply, or holds a number that JSON has no word for") from None
    if size > MOST_CHARACTERS:
        raise InvalidField(FIELD, f"must be at most {MOST_CHARACTERS} characters of JSON")
    whole: JsonObject = json.loads(json.dumps(schema))
    properties = whole.get("properties")
    if whole.get("type", "object") != "object":
        raise InvalidField(f"{FIELD}.type", "must be `object`")
    if not isinstance(properties, dict) or not properties:
        raise InvalidField(f"{FIELD}.properties", "must name at least one property")
    for count, (at, part, depth) in enumerate(_parts(whole, FIELD, 1), start=1):
        if depth > DEEPEST:
            raise InvalidField(at, f"is nested deeper than {DEEPEST} schemas")
        if count > MOST_SCHEMAS:
            raise InvalidField(FIELD, f"holds more than {MOST_SCHEMAS} schemas")
        _check_part(at, part, whole)
    structured_tool("", whole)


def structured_tool(name: str, schema: JsonObject) -> Tool:
    """The tool that asks for this structure, in the keywords that Bedrock takes.

    References stand resolved; limits that no model is held to are told in words.  Where a definition contains itself it
    is left open: any object may stand there.

    Raises: InvalidField when that comes to more than 400 schemas.
    """
    return Tool(name, "Fills the asked structure from the answer.", _Unfolding(schema).shown(schema, ()))


def resolved(schema: JsonObject, whole: JsonObject) -> JsonObject:
    """What a `$ref` within the whole schema stands for, with what is written beside it; another schema as it is."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    target = _target(reference, whole)
    return {**(target or {}), **{name: value for name, value in schema.items() if name != "$ref"}}


def _parts(schema: JsonValue, at: str, depth: int) -> Iterator[tuple[str, JsonValue, int]]:
    """Every schema within one, with its place and depth; a property that is no schema is told as it is."""
    yield at, schema, depth
    if not isinstance(schema, dict) or depth > DEEPEST:
        return
    for keyword in ("properties", *_DEFINITIONS):
        named = schema.get(keyword)
        for name, part in named.items() if isinstance(named, dict) else ():
            yield from _parts(part, f"{at}.{keyword}.{name[:100]}", depth + 1)
    for keyword in ("items", "additionalProperties"):
        if keyword in schema and not isinstance(schema[keyword], bool):
            yield from _parts(schema[keyword], f"{at}.{keyword}", depth + 1)
    for keyword in (*_CHOICES, "allOf"):
        parts = schema.get(keyword)
        for place, part in enumerate(parts if isinstance(parts, list) else ()):
            yield from _parts(part, f"{at}.{keyword}[{place}]", depth + 1)


def _check_part(at: str, part: JsonValue, whole: JsonObject) -> None:
    if not isinstance(part, dict):
        raise InvalidField(at, "must be a schema, which is an object")
    kinds = part.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if not isinstance(kind, str) or kind not in TYPES:
            raise InvalidField(f"{at}.type", f"must be one of {', '.join(sorted(TYPES))}")
    properties, required = part.get("properties", {}), part.get("required", [])
    if not isinstance(properties, dict):
        raise InvalidField(f"{at}.properties", "must be an object of schemas")
    known = properties if "properties" in part else None
    if not isinstance(required, list) or not all(_is_name(name, known) for name in required):
        raise InvalidField(f"{at}.required", "must list properties of the schema")
    for keyword in ("enum", *_CHOICES, "allOf"):
        if keyword in part and (not isinstance(part[keyword], list) or not part[keyword]):
            raise InvalidField(f"{at}.{keyword}", "must be a list of at least one entry")
    reference = part.get("$ref")
    if reference is not None and (not isinstance(reference, str) or _target(reference, whole) is None):
        raise InvalidField(f"{at}.$ref", "must lead to a definition within the schema, such as `#/$defs/Name`")


def _is_name(name: JsonValue, known: JsonObject | None) -> bool:
    """Whether it names one of the properties; a part that has none of its own may speak of those around it."""
    return isinstance(name, str) and (known is None or name in known)


def _target(reference: str, whole: JsonObject) -> JsonObject | None:
    for keyword in _DEFINITIONS:
        named = whole.get(keyword)
        name = reference.removeprefix(f"#/{keyword}/")
        if isinstance(named, dict) and name != reference and isinstance(target := named.get(name), dict):
            return target
    return None


class _Unfolding:
    """Writes a schema in the keywords that every model takes, and counts what that comes to."""

    def __init__(self, whole: JsonObject) -> None:
        self._whole = whole
        self._count = 0

    def shown(self, schema: JsonObject, opened: tuple[str, ...]) -> JsonObject:
        """The schema; `opened` are the definitions it stands within."""
        self._count += 1
        if self._count > MOST_SCHEMAS:
            raise InvalidField(FIELD, f"comes to more than {MOST_SCHEMAS} schemas when its references are followed")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in opened:
                return {"type": "object"}
            return self.shown(resolved(schema, self._whole), (*opened, reference))
        merged = _with_all_of(schema, self._whole)
        options = next((merged[keyword] for keyword in _CHOICES if keyword in merged), None)
        kinds = merged.get("type")
        if isinstance(options, list) and "properties" not in merged:
            shown: JsonObject = {"anyOf": [self.shown(one, opened) for one in options if isinstance(one, dict)]}
        elif isinstance(kinds, list):
            shown = {"anyOf": [self._of_kind({**merged, "type": kind}, opened) for kind in kinds]}
        else:
            shown = self._of_kind(merged, opened)
        said = _description(merged)
        return {**shown, "description": said} if said else shown

    def _of_kind(self, schema: JsonObject, opened: tuple[str, ...]) -> JsonObject:
        properties, items = schema.get("properties"), schema.get("items")
        kind = schema.get("type", "object" if isinstance(properties, dict) else None)
        if kind == "null":
            return {"type": "null"}
        shown: JsonObject = {} if kind is None else {"type": kind}
        if kind == "object" and isinstance(properties, dict) and properties:
            shown["properties"] = {
                name: self.shown(part, opened) for name, part in properties.items() if isinstance(part, dict)
            }
            shown["required"] = schema.get("required", [])
            if schema.get("additionalProperties", False) is False:
                shown["additionalProperties"] = False
        if kind == "array" and isinstance(items, dict):
            shown["items"] = self.shown(items, opened)
        allowed = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(allowed, list):
            shown["enum"] = allowed
        return shown


def _with_all_of(schema: JsonObject, whole: JsonObject) -> JsonObject:
    """The schema with the parts of its `allOf` laid into it: what must hold together is one object to a model."""
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    merged: JsonObject = {}
    for part in (*(one for one in parts if isinstance(one, dict)), schema):
        for name, value in resolved(part, whole).items():
            before = merged.get(name)
            if isinstance(before, dict) and isinstance(value, dict):
                merged[name] = {**before, **value}
            elif name == "required" and isinstance(before, list) and isinstance(value, list):
                merged[name] = [*before, *(one for one in value if one not in before)]
            else:
                merged[name] = value
    return {name: value for name, value in merged.items() if name != "allOf"}


def _description(schema: JsonObject) -> str:
    told = [f"{name}: {json.dumps(schema[name], ensure_ascii=False)}" for name in _TOLD if name in schema]
    said = schema.get("description")
    parts = ([said.strip()] if isinstance(said, str) and said.strip() else []) + (
        [f"({'; '.join(told)})"] if told else []
    )
    return " ".join(parts)[:_LONGEST_DESCRIPTION]
