"""A refresh at its end: all that says what becomes of its page.  Made by keeper.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.mental_models.refresh.candidate import Candidate
from hindsight_aws.mental_models.refresh.kept import Kept
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.page_keeper import FoundPiece
from hindsight_aws.ports.reflect import Run


@dataclass(frozen=True, slots=True)
class RefreshEnd:
    """What was settled, what was said and found, and the page that makes."""

    run: Run
    kept: Kept
    said: Mapping[str, JsonObject]
    found: Sequence[FoundPiece]
    made: Candidate
