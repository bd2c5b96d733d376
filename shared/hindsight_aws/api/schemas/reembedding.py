"""The body of what is asked of re-embedding."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, Field, model_validator

from hindsight_aws.api.schemas.text import fit_to_store

_NAMING: Final = ("model", "embed")
_LONGEST_NAMED: Final = 60


class ReembedRequest(BaseModel):
    """By which model; without one by that of new banks."""

    model: str | None = Field(default=None, min_length=1, max_length=2_048)

    @model_validator(mode="before")
    @classmethod
    def _unmistakable(cls, body: object) -> object:
        """Refuses an unknown field that seems to name one: unread, all would be embedded, and paid for, by another."""
        whole = fit_to_store(body)
        for name in whole if isinstance(whole, dict) else ():
            if name not in cls.model_fields and any(word in name.lower() for word in _NAMING):
                raise ValueError(f"{name[:_LONGEST_NAMED]} is no field of this call, which takes the model as model")
        return whole
