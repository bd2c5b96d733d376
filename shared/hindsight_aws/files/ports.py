"""What files need of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.errors import NotFound
from hindsight_aws.ports.converter import Converter
from hindsight_aws.ports.files import FileStore
from hindsight_aws.retain import RetainPorts
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class FilesPorts:
    """For the API: takes files in.  `retain` is what the text of a file goes on to."""

    retain: RetainPorts
    files: FileStore


@dataclass(frozen=True, slots=True)
class ConversionPorts:
    """For the convert function: reads files and retains their text."""

    retain: RetainPorts
    files: FileStore
    converter: Converter


def require_files(settings: Settings) -> None:
    """Lets a caller pass where files are taken.  Raises NotFound."""
    if not settings.hindsight_api_enable_file_upload_api:
        raise NotFound("File upload is disabled: HINDSIGHT_API_ENABLE_FILE_UPLOAD_API is off")
    if not settings.hindsight_bucket:
        raise NotFound("File upload is disabled: this deployment has no bucket (HINDSIGHT_BUCKET)")
