"""A caller's own schema: refused where it is no object's, shown in Bedrock's keywords, and held against the reply."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from hindsight_aws.errors import InvalidField
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.asking.conformance import problems_of
from hindsight_aws.reflect.asking.structure import check_response_schema, structured_tool
from tests.unit.prompts.test_contract import schemas_in

WORD: JsonObject = {"type": "string"}
KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}


class City(BaseModel):
    """A place, as a client's own model has it."""

    name: str
    people: int = Field(ge=0, description="Inhabitants.")


class Trip(BaseModel):
    """What official clients send: a model's own schema, with definitions, defaults and limits."""

    where: City
    back: City | None = None
    days: list[str] = Field(default_factory=list, max_length=2)
    mood: dict[str, float] = {}


def holding(**properties: Any) -> JsonObject:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        pytest.param({}, ".properties", id="[X037]-empty"),
        pytest.param({"type": "object"}, ".properties", id="[X037]-without properties"),
        pytest.param({"type": "object", "properties": {}}, ".properties", id="[X037]-no property"),
        pytest.param({"type": "array", "items": WORD, "properties": {"a": WORD}}, ".type", id="[X037]-a list"),
        pytest.param({**holding(a=WORD), "required": ["b"]}, ".required", id="[X037]-requires what it has not"),
        pytest.param({**holding(a=WORD), "required": "a"}, ".required", id="requires no list"),
        pytest.param(holding(a={"type": "text"}), ".properties.a.type", id="[X037]-unknown type"),
        pytest.param(holding(a={"type": ["string", 5]}), ".properties.a.type", id="a type that is no word"),
        pytest.param(holding(a="string"), ".properties.a", id="a property that is no schema"),
        pytest.param(holding(a={"anyOf": []}), ".properties.a.anyOf", id="no form to fit"),
        pytest.param(holding(a={"enum": []}), ".properties.a.enum", id="no value to choose"),
        pytest.param(holding(a={"$ref": "#/$defs/B"}), ".properties.a.$ref", id="a reference to nothing"),
        pytest.param(holding(a={"$ref": "https://example.com/s"}), ".properties.a.$ref", id="a reference elsewhere"),
        pytest.param(holding(a={"type": "array", "items": {"type": "set"}}), ".properties.a.items.type", id="within"),
        pytest.param(holding(a={"description": "x" * 40_000}), "", id="too long"),
        pytest.param(holding(**{f"p{n}": WORD for n in range(500)}), "", id="too many"),
    ],
)
def test_a_schema_that_cannot_be_asked_for_is_refused_by_its_place(schema: JsonObject, place: str) -> None:
    with pytest.raises(InvalidField) as refused:
        check_response_schema(schema)

    assert refused.value.field == f"response_schema{place}"


def test_a_schema_nested_too_deeply_is_refused() -> None:
    schema: JsonObject = WORD
    for _ in range(20):
        schema = holding(a=schema)

    with pytest.raises(InvalidField, match="nested deeper"):
        check_response_schema(schema)


def test_a_small_schema_that_unfolds_into_a_large_one_is_refused() -> None:
    defs = {f"D{n}": holding(**{f"p{k}": {"$ref": f"#/$defs/D{n + 1}"} for k in range(9)}) for n in range(8)}
    schema = {**holding(a={"$ref": "#/$defs/D0"}), "$defs": {**defs, "D8": WORD}}

    with pytest.raises(InvalidField, match="more than 400 schemas"):
        check_response_schema(schema)


def test_what_the_model_is_shown_uses_only_keywords_that_bedrock_takes() -> None:
    schema: JsonObject = Trip.model_json_schema()
    check_response_schema(schema)

    tool = structured_tool("structured_answer", schema)

    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert {keyword for part in schemas_in(tool.schema) for keyword in part} <= KEYWORDS
    where: Any = tool.schema["properties"]["where"]  # type: ignore[index, call-overload]  # JSON of known shape
    assert where["required"] == ["name", "people"]
    assert where["additionalProperties"] is False
    assert where["properties"]["people"]["description"] == "Inhabitants. (minimum: 0)"


def test_a_definition_that_contains_itself_is_left_open() -> None:
    node = holding(name=WORD, below={"type": "array", "items": {"$ref": "#/$defs/Node"}})
    schema: dict[str, Any] = {**holding(root={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}
    check_response_schema(schema)

    shown: Any = structured_tool("t", schema).schema

    assert shown["properties"]["root"]["properties"]["below"]["items"] == {"type": "object"}
    assert problems_of({"root": {"name": "a", "below": [{"name": 1}]}}, schema) == [
        "$.root.below[0].name must be string"
    ]


ALL_OF: JsonObject = {"allOf": [holding(a=WORD), {**holding(b=WORD), "required": ["b"]}]}


def test_parts_that_must_hold_together_are_shown_as_one() -> None:
    shown: Any = structured_tool("t", holding(x=ALL_OF)).schema

    assert shown["properties"]["x"] == {
        "type": "object", "properties": {"a": WORD, "b": WORD}, "required": ["b"], "additionalProperties": False,
    }  # fmt: skip


def test_forms_that_only_choose_among_the_properties_are_held_against_and_not_shown() -> None:
    schema: dict[str, Any] = {**holding(a=WORD, b=WORD), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    check_response_schema(schema)

    assert structured_tool("t", schema).schema["properties"] == {"a": WORD, "b": WORD}
    assert problems_of({}, schema) == ["$ must fit one of its forms"]
    assert problems_of({"b": "x"}, schema) == []


def test_a_value_or_nothing_is_shown_as_two_forms() -> None:
    shown: Any = structured_tool("t", holding(a={"type": ["string", "null"], "enum": ["x", None]})).schema

    assert shown["properties"]["a"]["anyOf"] == [{"type": "string", "enum": ["x", None]}, {"type": "null"}]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({}, {**holding(a=WORD), "required": ["a"]}),
        ({"a": 1}, holding(a=WORD)),
        ({"a": True}, holding(a={"type": "integer"})),
        ({"a": 1.5}, holding(a={"type": "integer"})),
        ({"a": 1.0}, holding(a={"type": "integer"})),
        ({"a": None}, holding(a={"type": ["string", "null"]})),
        ({"a": "x", "b": 1}, {**holding(a=WORD), "additionalProperties": False}),
        ({"b": "x"}, {**holding(a=WORD), "additionalProperties": {"type": "number"}}),
        ({"a": "c"}, holding(a={"enum": ["a", "b"]})),
        ({"a": True}, holding(a={"enum": [1]})),
        ({"a": 2}, holding(a={"const": 1})),
        ({"a": ["x", 1]}, holding(a={"type": "array", "items": WORD})),
        ({"a": [1, 2, 3]}, holding(a={"type": "array", "maxItems": 2})),
        ({"a": ""}, holding(a={"type": "string", "minLength": 1})),
        ({"a": 5}, holding(a={"exclusiveMaximum": 5})),
        ({"a": -1}, holding(a={"minimum": 0})),
        ({"a": 1}, holding(a={"anyOf": [WORD, {"type": "null"}]})),
        ({"a": 1}, holding(a={"oneOf": [{"type": "integer"}, {"type": "number"}]})),
        ({"x": {"a": "x"}}, holding(x=ALL_OF)),
        ({"where": {"name": "Rome", "people": -1}}, Trip.model_json_schema()),
        ({"where": {"name": "Rome", "people": 3}, "days": ["mon"], "mood": {"good": 0.5}}, Trip.model_json_schema()),
        ([], holding(a=WORD)),
    ],
)
def test_a_value_fits_exactly_where_a_full_validator_says_so(value: JsonValue, schema: JsonObject) -> None:
    assert bool(problems_of(value, schema)) == (not jsonschema.Draft202012Validator(schema).is_valid(value))


def test_a_comparison_that_would_never_end_is_a_problem() -> None:
    forms: dict[str, Any] = {f"D{n}": {"anyOf": [{"$ref": f"#/$defs/D{n + 1}"}] * 8} for n in range(9)}
    schema: dict[str, Any] = {**holding(a={"$ref": "#/$defs/D0"}), "$defs": {**forms, "D9": {"type": "null"}}}

    assert problems_of({"a": 1}, schema)


LEAF = st.sampled_from(
    [{}, WORD, {"type": "integer", "minimum": 3}, {"enum": ["x", 1]}, {"type": "set"}, {"$ref": "#/$defs/D"}, 7]
)
SCHEMA = st.recursive(
    LEAF,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "null"], 3]),
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
            "required": st.lists(st.sampled_from(["a", "b"]), max_size=2),
            "items": inner,
            "additionalProperties": st.booleans() | inner,
            "anyOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
        },
    ),
    max_leaves=8,
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 5) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=2),
    max_leaves=5,
)


@given(SCHEMA, SCHEMA, VALUE)
def test_whatever_schema_is_sent_is_refused_or_can_be_asked_for_and_held_against(
    schema: Any, definition: Any, value: Any
) -> None:
    whole: dict[str, Any] = {"properties": {"a": schema}, "$defs": {"D": definition}}
    try:
        check_response_schema(whole)
    except InvalidField:
        return

    shown = structured_tool("t", whole).schema
    assert shown["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(shown)
    assert {keyword for part in schemas_in(shown) for keyword in part} <= KEYWORDS
    if "$ref" not in json.dumps(definition):
        fits = jsonschema.Draft202012Validator(whole).is_valid({"a": value})
        assert bool(problems_of({"a": value}, whole)) == (not fits)
