"""Fits what a rule has to say to the schema that was asked for.

Called by the rules; calls `language` and `shapes`. Pure.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.language import numbers, sentences
from infra.local.bedrock.shapes import a_text, an_object, objects, texts

_DEEPEST = 8


def fitted(said: JsonObject, schema: JsonObject) -> JsonObject:
    """Of `said`, the fields that the schema names, and something plain for those it requires besides."""
    properties = an_object(schema.get("properties"))
    kept = {name: _named(value, an_object(properties[name])) for name, value in said.items() if name in properties}
    for name in texts(schema.get("required")):
        kept.setdefault(name, filled(an_object(properties.get(name)), ""))
    return kept


def _named(value: JsonValue, schema: JsonObject) -> JsonValue:
    """The value with only the fields that the schema of a list's entries names, where it names any."""
    properties = an_object(an_object(schema.get("items")).get("properties"))
    if not properties or not isinstance(value, list):
        return value
    return [
        {name: inner for name, inner in entry.items() if name in properties} if isinstance(entry, dict) else entry
        for entry in value
    ]


def filled(schema: JsonObject, answer: str, depth: int = 0) -> JsonValue:
    """A value of that schema which says what it can of `answer`."""
    if "const" in schema:
        return schema["const"]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return next((c for c in choices if isinstance(c, str) and c.casefold() in answer.casefold()), choices[0])
    for key in ("anyOf", "oneOf", "allOf"):
        if options := objects(schema.get(key)):
            return filled(options[0], answer, depth + 1)
    kinds = schema.get("type")
    kind = next((k for k in texts(kinds) if k != "null"), "null") if isinstance(kinds, list) else a_text(kinds)
    if kind == "object" or (not kind and "properties" in schema):
        return _object(schema, answer, depth)
    if kind == "array":
        return _array(an_object(schema.get("items")), answer, depth)
    return _scalar(kind, answer)


def _object(schema: JsonObject, answer: str, depth: int) -> JsonObject:
    if depth > _DEEPEST:
        return {}
    properties = an_object(schema.get("properties"))
    return {name: filled(an_object(inner), answer, depth + 1) for name, inner in properties.items()}


def _array(items: JsonObject, answer: str, depth: int) -> list[JsonValue]:
    if depth > _DEEPEST or not answer:
        return []
    return [filled(items, sentence, depth + 1) for sentence in sentences(answer)[:5]]


def _scalar(kind: str, answer: str) -> JsonValue:
    figures = sorted(numbers(answer), key=answer.find)
    plain = figures[0].replace(",", "") if figures else "0"
    if kind == "integer":
        return int(plain.split(".", maxsplit=1)[0].split(":", maxsplit=1)[0])
    if kind == "number":
        return float(plain) if plain.count(".") <= 1 and ":" not in plain else 0.0
    if kind == "boolean":
        return not answer.casefold().startswith(("no", "nothing"))
    return None if kind == "null" else answer
