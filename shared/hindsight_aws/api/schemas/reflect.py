"""Body of a reflect call, as clients send it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, Field, field_validator, model_validator

from hindsight_aws.api.schemas.filters import TagGroups
from hindsight_aws.api.schemas.structured import ResponseSchema
from hindsight_aws.api.schemas.text import StorableBody
from hindsight_aws.errors import InvalidField
from hindsight_aws.model.tags import TagFilter, TagsMatch, parse_groups
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.request import Budget, ReflectRequest

LONGEST_QUERY = 32_000  # characters: every model call of a run is sent the question again
LONGEST_CONTEXT = 100_000  # characters: about 25,000 tokens, which leaves room for what is found
MOST_TAGS = 1_000  # as in recall: each is looked for in every memory that a search reads


class FactsIncludeOptions(BaseModel):
    """What the answer rests on."""


class ToolCallsIncludeOptions(BaseModel):
    """Which tools were used, with or without what they answered."""

    output: bool = True


class EvidenceIncludeOptions(BaseModel):
    """The quotes that observations among `facts` rest on."""


class ReflectIncludeOptions(BaseModel):
    """What comes along with the answer; null leaves a thing out."""

    facts: FactsIncludeOptions | None = None
    evidence: EvidenceIncludeOptions | None = None
    tool_calls: ToolCallsIncludeOptions | None = None


class ReflectBody(StorableBody):
    """A question to a bank, to be answered in words."""

    query: Annotated[str, Field(max_length=LONGEST_QUERY)]
    budget: Budget = Budget.LOW
    context: Annotated[str, Field(max_length=LONGEST_CONTEXT)] | None = None
    max_tokens: Annotated[int, Field(ge=1, lt=2**31)] = 4096
    include: ReflectIncludeOptions = ReflectIncludeOptions()
    response_schema: ResponseSchema = None
    tags: list[str] | None = None
    tags_match: TagsMatch = TagsMatch.ANY
    tag_groups: TagGroups = None
    apply_all_directives: bool = False
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None
    reflect_search_observations_max_tokens: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    reflect_search_observations_include_entities: bool | None = None
    query_timestamp: str | None = None

    @field_validator("tags")
    @classmethod
    def _are_not_too_many(cls, value: list[str] | None) -> list[str] | None:
        if len(set(value or ())) > MOST_TAGS:
            raise ValueError(f"must not name more than {MOST_TAGS:,} tags")
        return value

    @field_validator("fact_types")
    @classmethod
    def _names_a_type(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and not value:
            raise ValueError("'fact_types' must name at least one type, or be left out")
        return value

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.query.strip() and not (self.context or "").strip():
            raise ValueError("'query' must not be empty or whitespace-only.")
        if not self.query.strip() and len(self.context or "") > LONGEST_QUERY:
            raise ValueError(f"'context' is the question here, and must be at most {LONGEST_QUERY:,} characters")
        if self.tags is not None and self.tag_groups is not None:
            raise ValueError("'tags' and 'tag_groups' are mutually exclusive: use one of them")
        return self

    def as_request(self) -> ReflectRequest:
        """The question as reflect takes it; a context without a query is the question.

        Raises: InvalidField for a time that cannot be read.
        """
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
            with_pages=not self.exclude_mental_models,
            excluded_pages=frozenset(self.exclude_mental_model_ids or ()),
            shows_facts=self.include.facts is not None,
            shows_evidence=self.include.evidence is not None,
            shows_tool_calls=calls is not None,
            shows_tool_output=calls is not None and calls.output,
            asked_at=_instant(self.query_timestamp),
            apply_all_directives=self.apply_all_directives,
            response_schema=cast("JsonObject | None", self.response_schema),
        )

    def _filter(self) -> TagFilter:
        if self.tag_groups is None:
            return TagFilter.flat(self.tags, self.tags_match)
        return TagFilter(parse_groups(self.tag_groups))


def _instant(text: str | None) -> datetime | None:
    if text is None or not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidField("query_timestamp", "must be an ISO-8601 datetime") from None
