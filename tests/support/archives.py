"""Archives made by hand, and forms with one in them."""

from __future__ import annotations

import io

from hindsight_aws.transfer.manifest import Manifest
from hindsight_aws.transfer.writer import ArchiveWriter


def empty_archive(bank: str = "restored") -> bytes:
    """The archive of a bank without memories and settings."""
    file = io.BytesIO()
    manifest = Manifest(bank, frozenset({"data", "whole"}), None, 512)
    ArchiveWriter(file, 1 << 20).close(manifest, "2026-11-30T00:00:00+00:00")
    return file.getvalue()


def archive_form() -> bytes:
    """A form whose boundary is `b`, with such an archive as its file."""
    head = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\nContent-Type: application/zip\r\n\r\n'
    )
    return head + empty_archive() + b"\r\n--b--\r\n"
