"""What a caller may ask of files.  Made by the API; read by the rest of this package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.retain.intake.requests import Undated
from hindsight_aws.text.sanitise import clean, is_blank

PARSERS: Final = ("markitdown",)
"""The name by which callers know the usual converter of files; the one that is built in answers to it."""

UNKNOWN_TYPE: Final = "application/octet-stream"
MEGABYTE: Final = 1024 * 1024
_LONGEST_NAME = 255
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,99}/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}")
_CHARSET: Final = re.compile(r"charset=\"?([a-z0-9_.:-]{1,60})\"?")


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What a caller says of one file; as for an item of text.  A file without a `document_id` is given one."""

    document_id: str | None = None
    context: str | None = None
    metadata: Mapping[str, str | None] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    timestamp: datetime | Undated | None = None
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came with the request."""

    name: str
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class FilesRequest:
    """Files, then uploads that were announced before; `options` has one entry for each of both, in that order."""

    files: tuple[SentFile, ...]
    uploads: tuple[UUID, ...]
    options: tuple[FileOptions, ...]


@dataclass(frozen=True, slots=True)
class NewUpload:
    """A file that a caller wants to bring to an address of its own."""

    filename: str
    content_type: str
    size: int


def plain_name(name: str) -> str:
    """What a file is called: the last part of the path it came with, on one line of at most 255 characters."""
    last = " ".join(clean(name).replace("\\", "/").rsplit("/", 1)[-1].split())
    return "file" if is_blank(last) else last[-_LONGEST_NAME:]


def plain_type(content_type: str | None) -> str | None:
    """A content type in lower case, of its parameters the charset alone; None for what is none."""
    media_type, *parameters = [part.strip() for part in (content_type or "").lower().split(";")]
    if not _MEDIA_TYPE.fullmatch(media_type):
        return None
    charsets = [found[1] for part in parameters if (found := _CHARSET.fullmatch(part))]
    return f"{media_type}; charset={charsets[0]}" if charsets else media_type


def kept_key_of(tenant_id: TenantId, bank_id: BankId, file_id: UUID) -> str:
    """Where a file's bytes are kept for as long as its document: outside the prefix that the bucket empties by time."""
    return f"kept/{tenant_id}/banks/{bank_id}/{file_id}"


def key_of(tenant_id: TenantId, bank_id: BankId, upload_id: UUID) -> str:
    """Where a file's bytes wait to be read: inside its bank's prefix, and with nothing in it that a caller chose."""
    return f"tenants/{tenant_id}/banks/{bank_id}/{upload_id}"
