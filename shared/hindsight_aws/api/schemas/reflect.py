"""Body of a reflect call, as clients send it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.tags import TagFilter, TagsMatch, parse_groups
from hindsight_aws.reflect.request import Budget, ReflectRequest

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


class FactsIncludeOptions(BaseModel):
    """What the answer rests on."""


class ToolCallsIncludeOptions(BaseModel):
    """Which tools were used, with or without what they answered."""

    output: bool = True


class ReflectIncludeOptions(BaseModel):
    """What comes along with the answer; null leaves a thing out."""

    facts: FactsIncludeOptions | None = None
    tool_calls: ToolCallsIncludeOptions | None = None


class ReflectBody(BaseModel):
    """A question to a bank, to be answered in words."""

    query: str
    budget: Budget = Budget.LOW
    context: str | None = None
    max_tokens: Annotated[int, Field(ge=1, lt=2**31)] = 4096
    include: ReflectIncludeOptions = ReflectIncludeOptions()
    response_schema: dict[str, object] | None = None
    tags: list[str] | None = None
    tags_match: TagsMatch = TagsMatch.ANY
    tag_groups: list[object] | None = None
    apply_all_directives: bool = False
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None
    reflect_search_observations_max_tokens: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    reflect_search_observations_include_entities: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    @field_validator("fact_types")
    @classmethod
    def _names_a_type(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and not value:
            raise ValueError("'fact_types' must name at least one type, or be left out")
        return value

    @field_validator("response_schema")
    @classmethod
    def _is_a_schema(cls, value: dict[str, object] | None) -> dict[str, object] | None:
        if value is not None:
            _check_schema(value)
        return value

    @field_validator("tag_groups")
    @classmethod
    def _are_groups(cls, value: list[object] | None) -> list[object] | None:
        try:
            parse_groups(value or [])
        except InvalidRequest as wrong:
            raise ValueError(str(wrong)) from None
        return value

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.query.strip() and not (self.context or "").strip():
            raise ValueError("'query' must not be empty or whitespace-only.")
        if self.tags is not None and self.tag_groups is not None:
            raise ValueError("'tags' and 'tag_groups' are mutually exclusive: use one of them")
        return self

    def as_request(self) -> ReflectRequest:
        """The question as reflect takes it; a context without a query is the question."""
        asks_by_context = not self.query.strip()
        calls = self.include.tool_calls
        return ReflectRequest(
            query=self.context or "" if asks_by_context else self.query,
            context=None if asks_by_context else self.context,
            budget=self.budget,
            max_tokens=self.max_tokens,
            tags=self._filter(),
            fact_types=None if self.fact_types is None else frozenset(self.fact_types),
            observations_max_tokens=self.reflect_search_observations_max_tokens,
            observations_with_entities=self.reflect_search_observations_include_entities,
            shows_facts=self.include.facts is not None,
            shows_tool_calls=calls is not None,
            shows_tool_output=calls is not None and calls.output,
            wants_structure=self.response_schema is not None,
        )

    def _filter(self) -> TagFilter:
        if self.tag_groups is None:
            return TagFilter.flat(self.tags, self.tags_match)
        return TagFilter(parse_groups(self.tag_groups))


def _check_schema(schema: Mapping[str, object]) -> None:
    properties, required = schema.get("properties"), schema.get("required", [])
    if schema.get("type", "object") != "object" or not isinstance(properties, dict) or not properties:
        raise ValueError("'response_schema' must be an object schema with at least one property")
    for name, schema_of in properties.items():
        if not isinstance(schema_of, dict) or not _known_types(schema_of.get("type")):
            raise ValueError(f"'response_schema': the type of property {name[:100]!r} is not a basic JSON type")
    if not isinstance(required, list) or not all(name in properties for name in required if isinstance(name, str)):
        raise ValueError("'response_schema': 'required' must list properties of the schema")


def _known_types(kind: object) -> bool:
    kinds = kind if isinstance(kind, list) else [] if kind is None else [kind]
    return all(isinstance(one, str) and one in _TYPES for one in kinds)
