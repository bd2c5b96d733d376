"""Bodies of calls on the knowledge base, as clients send them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, model_validator

from hindsight_aws.api.schemas.mental_models import Tokens, TriggerBody
from hindsight_aws.api.schemas.text import fit_to_store
from hindsight_aws.knowledge.manage import NodeChanges, PageRequest, Place
from hindsight_aws.mental_models.manage import ModelChanges


def _has_words(name: str) -> str:
    if not name.strip():
        raise ValueError("must not be blank")
    return name


_Name = Annotated[str, Field(max_length=256), AfterValidator(_has_words)]
_Question = Annotated[str, Field(max_length=32_000)]
_NodeId = Annotated[str, Field(max_length=64)]


class CreateFolderBody(BaseModel):
    """A folder to be made."""

    name: _Name
    parent_id: _NodeId | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return fit_to_store(body)


class CreatePageBody(BaseModel):
    """A page to be made; what its trigger leaves out is as the bank's pages have it."""

    name: _Name
    source_query: _Question
    parent_id: _NodeId | None = None
    tags: list[str] | None = None
    max_tokens: Tokens | None = None
    trigger: TriggerBody | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return fit_to_store(body)

    def as_request(self) -> PageRequest:
        """The page as the use case takes it."""
        trigger = {} if self.trigger is None else self.trigger.sent()
        return PageRequest(
            self.name, self.source_query, self.parent_id or None, self.tags or [], self.max_tokens, trigger
        )


class UpdateNodeBody(BaseModel):
    """What is to change; null changes nothing, but for the place: a `parent_id` that is null is the root."""

    name: _Name | None = None
    parent_id: _NodeId | None = None
    source_query: _Question | None = None
    tags: list[str] | None = None
    max_tokens: Tokens | None = None
    trigger: TriggerBody | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return fit_to_store(body)

    def as_changes(self) -> NodeChanges:
        """The changes as the use case takes them."""
        moved = (self.parent_id or Place.ROOT) if "parent_id" in self.model_fields_set else Place.AS_IT_IS
        trigger = None if self.trigger is None else self.trigger.sent()
        return NodeChanges(moved, ModelChanges(self.name, self.source_query, self.tags, self.max_tokens, trigger))
