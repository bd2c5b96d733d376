"""A chunk's id on the wire, made of what it is a part of."""

from __future__ import annotations

import re
from typing import Final

_ID: Final = re.compile(r"([^_]*)_([^_]*)_(0|[1-9][0-9]{0,8})")


_MOST_DIGITS: Final = 9
"""Of an index: what a database integer holds."""


def chunk_id(bank: str, document: str, index: int) -> str:
    """The id of a document's chunk: bank, document and index joined by `_`, which inside the parts is written `~5F`."""
    return f"{_escaped(bank)}_{_escaped(document)}_{index}"


def read_chunk_id(text: str) -> tuple[str, str, int] | None:
    """Bank, document and index of a chunk's id; None for a text that is no such id."""
    found = _ID.fullmatch(text)
    if found is None:
        return None
    return _plain(found[1]), _plain(found[2]), int(found[3])


def _plain(part: str) -> str:
    return part.replace("~5F", "_").replace("~7E", "~")


def _escaped(part: str) -> str:
    return part.replace("~", "~7E").replace("_", "~5F")


def chunk_of(bank: str, wanted: str) -> tuple[str, int] | None:
    """The document and the index that a chunk's id in this bank names, or None for the id of no chunk."""
    place, _, index = wanted.rpartition("_")
    opening = _escaped(bank) + "_"
    if not place.startswith(opening) or not index.isascii() or not index.isdigit() or len(index) > _MOST_DIGITS:
        return None
    document = place.removeprefix(opening).replace("~5F", "_").replace("~7E", "~")
    return (document, int(index)) if chunk_id(bank, document, int(index)) == wanted else None
