"""How a bank is embedded anew by another model.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class ReembeddingSettings(BaseSettings):
    """How a bank is embedded anew by another model."""

    hindsight_reembed_max_vectors: int = Field(
        500_000,
        ge=1,
        le=5_000_000,
        description="The most vectors of a bank that are embedded anew: before they serve all are looked through, for "
        "which nobody writes any. A larger bank is exported and restored.",
    )
    hindsight_reembed_batch: int = Field(
        200, ge=1, le=2_000, description="Texts that are embedded and kept at a time; a killed worker loses one batch."
    )
    hindsight_reembed_lease_seconds: float = Field(
        120.0, gt=0, description="How long a worker that died holds a re-embedding, its last step excepted."
    )
    hindsight_reembed_max_attempts: int = Field(
        10, ge=1, description="Attempts of a re-embedding that end in a fault, before it fails."
    )
