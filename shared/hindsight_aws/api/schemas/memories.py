"""Body of a correction by hand, as clients send it: explicit nulls, empty texts that clear."""

from __future__ import annotations

from typing import Final, Literal, cast

from pydantic import BaseModel, field_validator, model_validator

from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.curation import Correction, Edit
from hindsight_aws.curation.requests import Field
from hindsight_aws.errors import InvalidField
from hindsight_aws.retain.intake.timestamps import read_timestamp

_DATES: Final = ("occurred_start", "occurred_end", "mentioned_at")
_FIELDS: Final = ("text", "context", *_DATES, "fact_type", "entities")


class UpdateMemoryBody(BaseModel):
    """The fields to change.

    A date is cleared by null and by an empty text, a context by an empty text; null leaves everything else as it is.
    """

    text: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    fact_type: Literal["world", "experience"] | None = None
    entities: list[str] | None = None
    resolve_entities: bool | None = True
    state: Literal["valid", "invalidated"] | None = None
    reason: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    @field_validator(*_DATES)
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        try:
            read_timestamp(value, "the date")
        except InvalidField as wrong:
            raise ValueError(str(wrong)) from None
        return value

    @model_validator(mode="after")
    def _asks_for_something(self) -> UpdateMemoryBody:
        if not self._given() and self.state is None:
            raise ValueError("Provide at least one field to update.")
        return self

    def as_correction(self) -> Correction:
        """The correction as curation takes it."""
        given = self._given()
        edit = Edit(
            given=frozenset(cast("set[Field]", given)),
            text=self.text or "",
            context=self.context,
            fact_type=self.fact_type or "world",
            entities=tuple(self.entities or ()),
            resolve_entities=self.resolve_entities is not False,
            **{name: None if (at := read_timestamp(getattr(self, name), name)) == "unset" else at for name in _DATES},
        )
        return Correction(edit if given else None, self.state, self.reason)

    def _given(self) -> set[str]:
        sent = self.model_fields_set
        return {name for name in _FIELDS if name in sent and (name in _DATES or getattr(self, name) is not None)}
