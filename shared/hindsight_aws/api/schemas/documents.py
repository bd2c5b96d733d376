"""Body of a change to a document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, model_validator

from hindsight_aws.api.schemas.tag_list import Tags
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.documents import DocumentPatch


class UpdateDocumentBody(BaseModel):
    """What to change; null leaves it as it is, an empty list of tags takes them all away."""

    tags: Tags | None = None
    observation_scopes: Literal["per_tag", "combined", "all_combinations", "shared"] | list[list[str]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    def as_patch(self) -> DocumentPatch:
        """The change as the use case takes it."""
        scopes = self.observation_scopes
        return DocumentPatch(
            tags=None if self.tags is None else tuple(self.tags),
            observation_scopes=tuple(tuple(tags) for tags in scopes) if isinstance(scopes, list) else scopes,
        )
