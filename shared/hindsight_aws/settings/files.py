"""How files are taken in and read.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class FileSettings(BaseSettings):
    """How files are taken in and read."""

    hindsight_api_enable_file_upload_api: bool = Field(True, description="Whether the routes for files are served.")
    hindsight_api_file_conversion_max_batch_size: int = Field(
        10, ge=1, le=100, description="Most files of one request."
    )
    hindsight_api_file_conversion_max_batch_size_mb: int = Field(
        100, ge=1, le=1_000, description="Most megabytes of the files of one request, and of one upload."
    )
    hindsight_api_file_delete_after_retain: bool = Field(
        True,
        description="Whether an uploaded file's bytes are deleted once its text is retained; else they are kept for as "
        "long as its document.",
    )
    hindsight_upload_url_seconds: int = Field(
        900, ge=60, le=3_600, description="How long the address of an announced upload is good for."
    )
    hindsight_convert_seconds: float = Field(
        120.0, gt=0, description="Longest time the conversion of one file may take, in seconds."
    )
    hindsight_convert_memory_mb: int = Field(
        1_536, ge=256, description="Most memory the conversion of one file may take; less than the function's own."
    )
    hindsight_convert_lease_seconds: float = Field(
        180.0, gt=0, description="A conversion whose worker died is taken over after this time; longer than any takes."
    )
