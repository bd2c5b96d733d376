"""Bodies of what is asked of consolidation by hand."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

_MOST_SCOPES = 1_000
_MOST_TAGS = 100
_MOST_STRATEGIES = 500


class ConsolidationRequest(BaseModel):
    """Which scopes; null, and an empty list, ask for the whole bank."""

    observation_scopes: (
        Annotated[list[Annotated[list[str], Field(max_length=_MOST_TAGS)]], Field(max_length=_MOST_SCOPES)] | None
    ) = None


class RebuildRequest(BaseModel):
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

    strategies: Annotated[list[object], Field(max_length=_MOST_STRATEGIES)]
    sample_limit: int = Field(5, ge=0, le=50)
