"""Bodies of calls on directives, as clients send them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from hindsight_aws.api.schemas.tag_list import Tags
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.directives.manage import DirectiveChange
from hindsight_aws.ports.directives import DirectiveText

Priority = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class CreateDirectiveRequest(BaseModel):
    """A new directive."""

    name: str
    content: str
    priority: Priority = 0
    is_active: bool = True
    tags: Tags = []

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    def as_text(self) -> DirectiveText:
        """The directive as the use case takes it."""
        return DirectiveText(self.name, self.content, self.priority, self.is_active, tuple(self.tags))


class UpdateDirectiveRequest(BaseModel):
    """What to change; null leaves it as it is, an empty list of tags takes them all away."""

    name: str | None = None
    content: str | None = None
    priority: Priority | None = None
    is_active: bool | None = None
    tags: Tags | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    def as_change(self) -> DirectiveChange:
        """The change as the use case takes it."""
        tags = None if self.tags is None else tuple(self.tags)
        return DirectiveChange(self.name, self.content, self.priority, self.is_active, tags)
