"""Bodies of calls on the knowledge base, as clients send them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from hindsight_aws.api.schemas.mental_models import Question, Tokens, TriggerBody, UpdateMentalModelBody
from hindsight_aws.api.schemas.text import StorableBody
from hindsight_aws.knowledge.manage import NodeChanges, PageRequest, Place


def _has_words(name: str) -> str:
    if not name.strip():
        raise ValueError("must not be blank")
    return name


_Name = Annotated[str, Field(max_length=256), AfterValidator(_has_words)]
_NodeId = Annotated[str, Field(max_length=64)]


class CreateFolderBody(StorableBody):
    """A folder to be made."""

    name: _Name
    parent_id: _NodeId | None = None


class CreatePageBody(StorableBody):
    """A page to be made; what its trigger leaves out is as the bank's pages have it."""

    name: _Name
    source_query: Question
    parent_id: _NodeId | None = None
    tags: list[str] | None = None
    max_tokens: Tokens | None = None
    trigger: TriggerBody | None = None

    def as_request(self) -> PageRequest:
        """The page as the use case takes it."""
        trigger = {} if self.trigger is None else self.trigger.sent()
        return PageRequest(
            self.name, self.source_query, self.parent_id or None, self.tags or [], self.max_tokens, trigger
        )


class UpdateNodeBody(UpdateMentalModelBody):
    """What is to change; null changes nothing, but for the place: a `parent_id` that is null is the root."""

    name: _Name | None = None
    parent_id: _NodeId | None = None

    def as_node_changes(self) -> NodeChanges:
        """The changes as the use case takes them: the node's place, and its page's."""
        moved = (self.parent_id or Place.ROOT) if "parent_id" in self.model_fields_set else Place.AS_IT_IS
        return NodeChanges(moved, self.as_changes())
