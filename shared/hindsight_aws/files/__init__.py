"""Files: bytes come in, beside the request or at an address of their own, and become the text of a retain.

Called by the API (`announce_upload`, `retain_files`) and by the convert job (`run_conversion`); calls retain and ports.
"""

from __future__ import annotations

from hindsight_aws.files.announce import AnnouncedUpload, announce_upload
from hindsight_aws.files.convert import run_conversion
from hindsight_aws.files.ports import ConversionPorts, FilesPorts
from hindsight_aws.files.requests import FileOptions, FilesRequest, NewUpload, SentFile
from hindsight_aws.files.retain import retain_files

__all__ = [
    "AnnouncedUpload",
    "ConversionPorts",
    "FileOptions",
    "FilesPorts",
    "FilesRequest",
    "NewUpload",
    "SentFile",
    "announce_upload",
    "retain_files",
    "run_conversion",
]
