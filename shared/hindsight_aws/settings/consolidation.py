"""How facts become observations: budgets, bounds, duplicates, former generations.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class ConsolidationSettings(BaseSettings):
    """How facts become observations: budgets, bounds, duplicates, former generations."""

    hindsight_api_enable_auto_consolidation: bool = Field(
        True, description="Whether retained facts wake consolidation by themselves."
    )
    hindsight_api_enable_observations: bool = Field(
        True, description="Whether facts are consolidated into observations at all."
    )
    hindsight_api_consolidation_dedup_threshold: float = Field(
        0.97, ge=0, description="Cosine from which two observations of a scope are compared as duplicates; 1.0: never."
    )
    hindsight_api_consolidation_max_tokens: int = Field(
        512, gt=0, description="Tokens of related observations shown for each new fact."
    )
    hindsight_api_consolidation_lease_seconds: float = Field(
        180.0,
        gt=0,
        description="How long a worker holds a scope between two renewals; longer than one model call takes.",
    )
    hindsight_api_consolidation_max_deferrals: int = Field(
        8,
        ge=1,
        description="How often a fact waits, ever longer, for an unreachable model until it fails in its scope.",
    )
    hindsight_consolidation_max_calls: int = Field(
        16,
        ge=1,
        description="How many model calls about a fact may settle nothing (overlooked, malformed, come too late, never "
        "heard because the worker died) until it fails in its scope; how many looks at near-duplicates may begin to "
        "ask.",
    )
    hindsight_consolidation_max_duplicate_checks: int = Field(
        16,
        ge=0,
        description="Most questions after one answer whether two observations say the same; pairs past it stay apart.",
    )
    hindsight_compaction_hours: float = Field(
        24.0,
        ge=0,
        description="About how long after a write to a scope its near-duplicates are looked for; 0: never.",
    )
    hindsight_api_observation_history_max_entries: int = Field(
        50,
        ge=0,
        description="How many changes the history of an observation shows, the latest ones; all are kept.",
    )
    hindsight_api_sealed_retention_days: int = Field(
        0,
        ge=0,
        le=3_650,
        description="Days that a generation of observations which a rebuild replaced is kept, where no function reads "
        "it; 0: it is deleted as it is replaced.",
    )
