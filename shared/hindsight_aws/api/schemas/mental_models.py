"""Bodies of calls on mental models, as clients send them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from hindsight_aws.api.schemas.filters import TagGroups
from hindsight_aws.api.schemas.structured import ResponseSchema
from hindsight_aws.api.schemas.text import StorableBody
from hindsight_aws.mental_models.manage import ModelChanges, ModelRequest
from hindsight_aws.model.cron import parse
from hindsight_aws.model.tags import TagsMatch
from hindsight_aws.reflect.request import Budget

Tokens = Annotated[int, Field(ge=256, le=8192)]
_Name = Annotated[str, Field(max_length=256)]
Question = Annotated[str, Field(max_length=32_000)]  # as long as one that reflect is asked
_Count = Annotated[int, Field(ge=0, lt=2**31)]
_Some = Annotated[int, Field(ge=1, lt=2**31)]


class TriggerBody(BaseModel):
    """When and from what a model is refreshed; only the fields that are sent count."""

    budget: Budget | None = None
    mode: Literal["full", "delta"] | None = "full"
    refresh_after_consolidation: bool | None = False
    refresh_cron: str | None = None
    full_refresh_cron: str | None = None
    min_refresh_interval_seconds: _Count | None = None
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool | None = False
    exclude_mental_model_ids: list[str] | None = None
    tags_match: TagsMatch | None = None
    tag_groups: TagGroups = None
    include_chunks: bool | None = None
    recall_max_tokens: _Count | None = None
    recall_chunks_max_tokens: _Count | None = None
    reflect_search_observations_max_tokens: _Some | None = None
    reflect_search_observations_include_entities: bool | None = None
    response_schema: ResponseSchema = None
    keep_trace: bool | None = False

    @field_validator("refresh_cron", "full_refresh_cron")
    @classmethod
    def _is_a_schedule(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None or not value.strip():
            return None
        try:
            parse(value)
        except ValueError:
            raise ValueError(f"{info.field_name} is not a valid cron expression: {value!r}") from None
        return value

    def sent(self) -> dict[str, object]:
        """The fields that were sent, in their JSON form."""
        return self.model_dump(mode="json", exclude_unset=True)


class CreateMentalModelBody(StorableBody):
    """A model to be made."""

    id: str | None = None
    name: _Name
    source_query: Question
    tags: list[str] = Field([])
    max_tokens: Tokens = 2048
    trigger: TriggerBody = TriggerBody()

    def as_request(self) -> ModelRequest:
        """The model as the use case takes it."""
        return ModelRequest(
            self.id or None, self.name, self.source_query, self.tags, self.max_tokens, self.trigger.sent()
        )


class UpdateMentalModelBody(StorableBody):
    """What is to change; null changes nothing."""

    name: _Name | None = None
    source_query: Question | None = None
    tags: list[str] | None = None
    max_tokens: Tokens | None = None
    trigger: TriggerBody | None = None

    def as_changes(self) -> ModelChanges:
        """The changes as the use case takes them."""
        trigger = None if self.trigger is None else self.trigger.sent()
        return ModelChanges(self.name, self.source_query, self.tags, self.max_tokens, trigger)


class RefreshBody(BaseModel):
    """How to refresh; without a mode as the model's trigger says."""

    mode: Literal["full"] | None = None
