"""A chunk's id on the wire, made of what it is a part of."""

from __future__ import annotations


def chunk_id(bank: str, document: str, index: int) -> str:
    """The id of a document's chunk: bank, document and index joined by `_`, which inside the parts is written `~5F`."""
    return f"{_escaped(bank)}_{_escaped(document)}_{index}"


def _escaped(part: str) -> str:
    return part.replace("~", "~7E").replace("_", "~5F")
