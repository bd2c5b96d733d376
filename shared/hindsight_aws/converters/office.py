"""Office files are zip archives: whether one may be unpacked.  Called by reading before any reader opens it."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Final

from hindsight_aws.converters.refusal import PROTECTED, Refusal

MOST_PARTS: Final = 20_000
MOST_UNPACKED: Final = 512 * 1024 * 1024
MOST_TEXT_UNPACKED: Final = 256 * 1024 * 1024
_IS_ENCRYPTED: Final = 0x1


def parts_of(body: bytes) -> frozenset[str]:
    """The names in the archive, which unpacks to a bearable size; no reader gets more of a part than it announces.

    Raises: Refusal.
    """
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as damaged:
        raise Refusal("is damaged: it cannot be unpacked") from damaged
    if any(part.flag_bits & _IS_ENCRYPTED for part in parts):
        raise Refusal(PROTECTED)
    unpacked = sum(part.file_size for part in parts)
    texts = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
    if len(parts) > MOST_PARTS or unpacked > MOST_UNPACKED or texts > MOST_TEXT_UNPACKED:
        raise Refusal("unpacks to more than is read of one file")
    return frozenset(part.filename for part in parts)
