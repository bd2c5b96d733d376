"""Body of a retain call, as clients send it: explicit nulls, tags as a JSON string, text as blocks."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from hindsight_aws.api.schemas.tag_list import Tags
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.errors import InvalidField
from hindsight_aws.retain import USUAL_ENTITY_TYPE, EntityHint, RetainItem, RetainRequest
from hindsight_aws.retain.intake.timestamps import read_timestamp
from hindsight_aws.text.sanitise import clean, is_blank


class TextBlock(BaseModel):
    """A block of text."""

    type: Literal["text"]
    text: str


class AttachmentBlock(BaseModel):
    """A block of bytes: known, and refused, because no attachment can be stored yet."""

    type: Literal["image", "file"]


class EntityInput(BaseModel):
    """An entity the caller names."""

    text: str
    type: str | None = None


Blocks = list[Annotated[TextBlock | AttachmentBlock, Field(discriminator="type")]]


def text_of(content: str | Blocks) -> str:
    """The text as one."""
    if isinstance(content, str):
        return content
    return "\n\n".join(block.text for block in content if isinstance(block, TextBlock))


def _with_text(value: str | Blocks) -> str | Blocks:
    if not isinstance(value, str) and any(isinstance(block, AttachmentBlock) for block in value):
        raise ValueError("attachments are not supported: send text blocks only")
    if is_blank(clean(text_of(value))):
        raise ValueError("content cannot be empty")
    return value


def _as_a_time(value: str | None) -> str | None:
    try:
        read_timestamp(value, "timestamp")
    except InvalidField as wrong:
        raise ValueError(f"timestamp {wrong.problem}") from None
    return value


Content = Annotated[str | Blocks, AfterValidator(_with_text)]
Timestamp = Annotated[str | None, AfterValidator(_as_a_time)]


class MemoryItem(BaseModel):
    """One piece of text to remember."""

    content: Content
    timestamp: Timestamp = None
    context: str | None = None
    metadata: dict[str, str | None] | None = None
    document_id: str | None = None
    entities: list[EntityInput] | None = None
    resolve_entities: bool | None = True
    tags: Tags | None = None
    observation_scopes: Literal["per_tag", "combined", "all_combinations", "shared"] | list[list[str]] | None = None
    strategy: str | None = None
    update_mode: Literal["replace", "append"] | None = None

    def as_item(self) -> RetainItem:
        """The item as retain takes it."""
        scopes = self.observation_scopes
        return RetainItem(
            content=text_of(self.content),
            timestamp=read_timestamp(self.timestamp, "timestamp"),
            context=self.context,
            metadata=self.metadata or {},
            document_id=self.document_id,
            entities=tuple(EntityHint(hint.text, hint.type or USUAL_ENTITY_TYPE) for hint in self.entities or ()),
            resolve_entities=self.resolve_entities is not False,
            tags=tuple(self.tags or ()),
            observation_scopes=tuple(tuple(tags) for tags in scopes) if isinstance(scopes, list) else scopes,
            strategy=self.strategy,
            update_mode=self.update_mode or "replace",
        )


class RetainBody(BaseModel):
    """The items of one call."""

    items: list[MemoryItem]
    is_async: bool | None = Field(False, alias="async")
    document_tags: Tags | None = None
    operation_id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    @field_validator("operation_id")
    @classmethod
    def _is_a_uuid(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                UUID(value)
            except ValueError:
                raise ValueError("operation_id must be a valid UUID") from None
        return value

    def as_request(self) -> RetainRequest:
        """The request as retain takes it."""
        return RetainRequest(
            items=tuple(item.as_item() for item in self.items),
            document_tags=tuple(self.document_tags or ()),
            operation_id=None if self.operation_id is None else UUID(self.operation_id),
        )
