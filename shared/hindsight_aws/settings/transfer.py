"""How banks are exported and imported.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class TransferSettings(BaseSettings):
    """How banks are exported and imported."""

    hindsight_api_enable_document_export_api: bool = Field(
        True, description="Whether banks and documents may be exported, archives downloaded, and banks cloned."
    )
    hindsight_api_enable_document_import_api: bool = Field(
        True, description="Whether archives may be imported, and banks cloned."
    )
    hindsight_transfer_max_mb: int = Field(
        1_024, ge=1, le=4_096, description="Most megabytes of an archive; the function that writes them has the disk."
    )
    hindsight_transfer_max_unpacked_mb: int = Field(
        8_192, ge=1, description="Most megabytes that an imported archive may unpack to."
    )
    hindsight_transfer_lease_seconds: float = Field(
        180.0, gt=0, description="An import whose worker died is taken over after this time; longer than a batch takes."
    )
    hindsight_transfer_max_attempts: int = Field(
        5, ge=1, description="Attempts at a transfer that may die or meet a fault before it fails."
    )
    hindsight_download_url_seconds: int = Field(
        900,
        ge=60,
        le=3_600,
        description="How long the address of an archive is good for; asked again, there is a new one.",
    )
