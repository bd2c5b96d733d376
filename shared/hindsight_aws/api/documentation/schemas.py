"""The document's schemas: of requests as FastAPI found them, of answers as shapes/ says.  For document.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from hindsight_aws.api.documentation import refusals
from hindsight_aws.api.documentation.answers import ANSWERS
from hindsight_aws.api.documentation.names import schema_name
from hindsight_aws.api.schemas.templates import manifest_schema

Json = dict[str, object]

REFS: Final = "#/components/schemas/"

_SENT_AND_ANSWERED: Final = frozenset({"DispositionTraits", "WebhookHttpConfig"})
"""What is answered as it was sent: one schema says both."""


def ref(name: str) -> Json:
    """A reference to a schema of the document."""
    return {"$ref": REFS + name}


def in_words_of_the_contract(found: Json) -> Json:
    """What FastAPI found, without titles that say nothing, and with its schemas named as clients know them."""
    renamed = cast(Json, _walk(found, schema_name))
    components = cast("dict[str, dict[str, Json]]", renamed["components"])
    components["schemas"] = {schema_name(name): schema for name, schema in components["schemas"].items()}
    return renamed


def of_answers() -> tuple[dict[str, Json], dict[str, Json]]:
    """The schema of each operation's answer, and those that it refers to."""
    mode: JsonSchemaMode = "serialization"
    adapters: list[tuple[str, TypeAdapter[object]]] = [
        (name, TypeAdapter(cast("type[object]", shape))) for name, shape in ANSWERS.items()
    ]
    wanted = [(name, mode, adapter) for name, adapter in adapters]
    found, definitions = TypeAdapter.json_schemas(wanted, ref_template=REFS + "{model}")
    by_name = {name: cast(Json, _walk(schema)) for (name, _), schema in found.items()}
    return by_name, {name: cast(Json, _walk(schema)) for name, schema in definitions["$defs"].items()}


def of_templates() -> dict[str, Json]:
    """The schema of a bank template, with those that it refers to; the rest is FastAPI's."""
    whole = dict(manifest_schema())
    parts = cast("dict[str, Json]", whole.pop("$defs"))
    plain = {"BankTemplateManifest": whole, **parts}
    return {schema_name(name): cast(Json, _walk(schema, schema_name, "#/$defs/")) for name, schema in plain.items()}


def all_of(requests: Mapping[str, Json], answers: Mapping[str, Json]) -> dict[str, Json]:
    """Every schema, by name.

    Raises: ValueError where a request and an answer name different things alike: clients would mistake one for the
    other.
    """
    requests = {name: schema for name, schema in requests.items() if name not in refusals.SCHEMAS}
    alike = {name for name in requests.keys() & answers.keys() if requests[name] != answers[name]} - _SENT_AND_ANSWERED
    if alike:
        raise ValueError(f"Two schemas have one name: {', '.join(sorted(alike))}")
    return dict(sorted({**answers, **requests, **refusals.SCHEMAS}.items()))


def _walk(value: object, name_of: Callable[[str], str] = str, before: str = REFS) -> object:
    """The value with references renamed, and without the titles that only repeat a name."""
    if isinstance(value, list):
        return [_walk(child, name_of, before) for child in value]
    if not isinstance(value, dict):
        return value
    walked = {key: _walk(child, name_of, before) for key, child in value.items() if not _is_title(key, child)}
    target = walked.get("$ref")
    if isinstance(target, str) and target.startswith(before):
        walked["$ref"] = REFS + name_of(target.removeprefix(before))
    return walked


def _is_title(key: object, child: object) -> bool:
    return key == "title" and isinstance(child, str)
