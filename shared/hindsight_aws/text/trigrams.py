"""How alike two short texts are, by trigrams as Postgres counts them.  Pure, symmetric; used by entities and recall."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache


def similarity(left: str, right: str) -> float:
    """Trigrams that two texts share, over those that either has: 0 to 1, as `similarity` of pg_trgm counts.

    A word is a run of letters and digits, set between two spaces before it and one after.  Whether a combining mark
    is a letter depends on the database's locale: texts that hold one (`is_measured_alike`) are measured here alone.
    Source: the PostgreSQL manual, F.35 pg_trgm.
    """
    ours, theirs = _trigrams(left), _trigrams(right)
    return len(ours & theirs) / (len(ours | theirs) or 1)


def is_measured_alike(text: str) -> bool:
    """Whether every database counts the text's trigrams as `similarity` does."""
    return text.isascii() or not any(unicodedata.category(char).startswith("M") for char in text)


@lru_cache(maxsize=8_192)
def _trigrams(text: str) -> frozenset[str]:
    return frozenset(
        padded[place : place + 3]
        for padded in (f"  {word} " for word in _runs(text.lower()))
        for place in range(len(padded) - 2)
    )


def _runs(text: str) -> Iterator[str]:
    return iter("".join(char if char.isalnum() else " " for char in text).split())
