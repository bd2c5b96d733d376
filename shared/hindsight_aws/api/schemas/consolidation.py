"""Bodies of what is asked of consolidation by hand."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from hindsight_aws.api.schemas.text import fit_to_store
from hindsight_aws.model.strategy import MOST_STRATEGIES

_MOST_SCOPES = 1_000
_MOST_TAGS = 100


_NARROWING = ("scope", "tag")
_LONGEST_NAMED = 60


class _OfScopes(BaseModel):
    """A body that narrows a call to scopes.

    An unknown field that seems to say which is refused: left unread, it would make the call one for the whole bank.
    """

    @model_validator(mode="before")
    @classmethod
    def _unmistakable(cls, body: object) -> object:
        whole = fit_to_store(body)
        for name in whole if isinstance(whole, dict) else ():
            if name not in cls.model_fields and any(word in name.lower() for word in _NARROWING):
                known = next(iter(cls.model_fields))
                raise ValueError(f"{name[:_LONGEST_NAMED]} is no field of this call, which takes its scopes as {known}")
        return whole


class ConsolidationRequest(_OfScopes):
    """Which scopes; null, and an empty list, ask for the whole bank; so does an empty list in the place of the body."""

    observation_scopes: (
        Annotated[list[Annotated[list[str], Field(max_length=_MOST_TAGS)]], Field(max_length=_MOST_SCOPES)] | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _none_named(cls, body: object) -> object:
        return {} if body == [] else body


class RebuildRequest(_OfScopes):
    """Which exact scopes to make anew (null: all), and whether only to say what that would do."""

    scopes: (
        Annotated[list[Annotated[list[str], Field(max_length=_MOST_TAGS)]], Field(max_length=_MOST_SCOPES)] | None
    ) = None
    dry_run: bool = False


class RevertRequest(BaseModel):
    """Whether the run's facts are consolidated again at once, or wait until somebody asks for it."""

    retry: bool = False


class StrategiesPreviewRequest(BaseModel):
    """Strategies in the form that the bank's settings take; of each rule, `sample_limit` scopes are shown."""

    strategies: Annotated[list[object], Field(max_length=MOST_STRATEGIES)]
    sample_limit: int = Field(5, ge=0, le=50)
