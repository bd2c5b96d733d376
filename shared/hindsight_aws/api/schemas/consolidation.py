"""Body of a consolidation asked for by hand."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

_MOST_SCOPES = 1_000
_MOST_TAGS = 100


class ConsolidationRequest(BaseModel):
    """Which scopes; null, and an empty list, ask for the whole bank."""

    observation_scopes: (
        Annotated[list[Annotated[list[str], Field(max_length=_MOST_TAGS)]], Field(max_length=_MOST_SCOPES)] | None
    ) = None
