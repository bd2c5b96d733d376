"""Body of a recall call, as clients send it: explicit nulls, nested options, tag groups."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from hindsight_aws.api.schemas.filters import TagGroups
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.model.tags import TagFilter, TagsMatch, parse_groups
from hindsight_aws.model.watermark import read_watermark
from hindsight_aws.recall import After, Budget, MinScores, RecallQuery, TimeFilter, fact_types_of
from hindsight_aws.recall.fuzzy_tags import MOST_RESOLVED
from hindsight_aws.recall.request import LEAST_DEADLINE_MS, MOST_DEADLINE_MS, MOST_WAIT_MS

Count = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Score = Annotated[float, Field(allow_inf_nan=False)]


class EntityIncludeOptions(BaseModel):
    """Names of entities with each result; the budget has had no effect since observations left this answer."""

    max_tokens: Count = 500


class ChunkIncludeOptions(BaseModel):
    """Text of the chunks that the results came from, up to a budget of tokens."""

    max_tokens: Count = 8192


class SourceFactsIncludeOptions(BaseModel):
    """The facts that observations rest on, up to a budget of tokens; -1 is no limit."""

    max_tokens: Count = 4096
    max_tokens_per_observation: Count = -1


class EvidenceIncludeOptions(BaseModel):
    """The quotes that observations rest on."""


class IncludeOptions(BaseModel):
    """What comes along with the results; null leaves a thing out."""

    entities: EntityIncludeOptions | None = EntityIncludeOptions()
    chunks: ChunkIncludeOptions | None = None
    source_facts: SourceFactsIncludeOptions | None = None
    evidence: EvidenceIncludeOptions | None = None


class MinScoresBody(BaseModel):
    """Inclusive floors."""

    semantic: Score | None = None
    keyword: Score | None = None
    reranker: Score | None = None
    final: Score | None = None


class TemporalWindow(BaseModel):
    """From a first to a last moment, both included; without a zone they are in UTC."""

    start: datetime
    end: datetime

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        try:
            start, end = self.as_period()
        except OverflowError:
            raise ValueError("'start' and 'end' must lie within the calendar in UTC as well") from None
        if end < start:
            raise ValueError("'end' must not be before 'start'")
        return self

    def as_period(self) -> tuple[datetime, datetime]:
        """Both moments in UTC.  Raises OverflowError for one that UTC has no year for."""
        return _aware(self.start).astimezone(UTC), _aware(self.end).astimezone(UTC)


class RecallBody(BaseModel):
    """A question to a bank."""

    query: str
    types: list[str] | None = None
    prefer_observations: bool | None = None
    budget: Budget = Budget.MID
    max_tokens: Count = 4096
    trace: bool = False
    query_timestamp: str | None = None
    include: IncludeOptions = IncludeOptions()
    tags: list[str] | None = None
    tags_match: TagsMatch = TagsMatch.ANY
    tag_groups: TagGroups = None
    min_scores: MinScoresBody | None = None
    temporal_window: TemporalWindow | None = None
    only_between: TemporalWindow | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    deadline_ms: Annotated[int, Field(ge=LEAST_DEADLINE_MS, le=MOST_DEADLINE_MS)] | None = None
    as_of: datetime | None = None
    after: str | None = None
    wait_ms: Annotated[int, Field(ge=0, le=MOST_WAIT_MS)] = 0
    wait_for: Literal["visible", "consolidated"] = "visible"

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    @field_validator("query")
    @classmethod
    def _has_a_word(cls, value: str) -> str:
        try:
            RecallQuery(value)
        except InvalidField as wrong:
            raise ValueError(str(wrong)) from None
        return value

    @field_validator("tags")
    @classmethod
    def _are_not_too_many(cls, value: list[str] | None) -> list[str] | None:
        if len(set(value or ())) > MOST_RESOLVED:
            raise ValueError(f"must not name more than {MOST_RESOLVED:,} tags")
        return value

    @field_validator("as_of")
    @classmethod
    def _is_in_the_calendar(cls, value: datetime | None) -> datetime | None:
        try:
            return None if value is None else _aware(value).astimezone(UTC)
        except OverflowError:
            raise ValueError("must lie within the calendar in UTC as well") from None

    @model_validator(mode="after")
    def _waits_for_something(self) -> Self:
        if self.after is None and self.wait_ms:
            raise ValueError("'wait_ms' needs 'after': the token of the write that is waited for")
        return self

    @model_validator(mode="after")
    def _has_one_filter(self) -> Self:
        if self.tags is not None and self.tag_groups is not None:
            raise ValueError("'tags' and 'tag_groups' are mutually exclusive: use one of them")
        return self

    def as_query(self) -> RecallQuery:
        """The question as recall takes it.  Raises InvalidField for unknown types, InvalidRequest for a bad time."""
        chunks, sources = self.include.chunks, self.include.source_facts
        return RecallQuery(
            query=self.query,
            fact_types=fact_types_of(self.types),
            budget=self.budget,
            max_tokens=self.max_tokens,
            tags=self._filter(),
            now=_timestamp(self.query_timestamp),
            prefer_observations=self.prefer_observations,
            min_scores=MinScores(**self.min_scores.model_dump()) if self.min_scores else MinScores(),
            with_entities=self.include.entities is not None,
            chunk_tokens=None if chunks is None else chunks.max_tokens,
            source_tokens=None if sources is None else sources.max_tokens,
            tokens_per_observation=-1 if sources is None else sources.max_tokens_per_observation,
            with_quotes=self.include.evidence is not None,
            with_trace=self.trace,
            temporal_window=None if self.temporal_window is None else self.temporal_window.as_period(),
            times=TimeFilter(
                updated_after=None if self.created_after is None else _aware(self.created_after),
                updated_before=None if self.created_before is None else _aware(self.created_before),
                only_between=None if self.only_between is None else self.only_between.as_period(),
                as_of=self.as_of,
            ),
            deadline_ms=self.deadline_ms,
            after=None if self.after is None else After(read_watermark(self.after), self.wait_ms, self.wait_for),
        )

    def _filter(self) -> TagFilter:
        if self.tag_groups is None:
            return TagFilter.flat(self.tags, self.tags_match)
        return TagFilter(parse_groups(self.tag_groups))


def _of_whole_characters(name: str) -> str:
    if without_surrogates(name) != name:
        raise ValueError("must not hold half of a surrogate pair: no bank has such a name")
    return name


class RecallTogetherBody(RecallBody):
    """A question to several banks."""

    banks: Annotated[list[Annotated[str, AfterValidator(_of_whole_characters)]], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        """All but the names of banks: one that no bank can have would become another bank's."""
        whole = without_surrogates(body)
        if isinstance(body, dict) and isinstance(whole, dict) and "banks" in body:
            whole["banks"] = body["banks"]
        return whole

    @model_validator(mode="after")
    def _asks_about_no_write(self) -> Self:
        if self.after is not None:
            raise ValueError("'after' names a write of one bank: ask that bank about it")
        return self


def _timestamp(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        return _aware(datetime.fromisoformat(text.strip()))
    except ValueError:
        raise InvalidRequest(f"Invalid query_timestamp: {text[:100]!r} is not an ISO-8601 datetime.") from None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
