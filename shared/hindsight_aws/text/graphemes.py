"""Where text may be cut without breaking what a reader sees as one character.  Called by chunking."""

from __future__ import annotations

import unicodedata
from typing import Final

_JOINER: Final = "\u200d"
_REGIONAL: Final = range(0x1F1E6, 0x1F200)
_SKIN: Final = range(0x1F3FB, 0x1F400)
_HANGUL_FOLLOWERS: Final = range(0x1160, 0x1200)
_LONGEST_CLUSTER: Final = 64


def cut_before(text: str, limit: int) -> int:
    """The last place at or before `limit` (above 0) where no cluster is cut.

    `limit` itself inside a cluster of absurd length.
    """
    for cut in range(limit, max(limit - _LONGEST_CLUSTER, 0), -1):
        if not _joins(text, cut):
            return cut
    return limit


def _joins(text: str, at: int) -> bool:
    """Whether the characters around `at` belong together: a simplified reading of Unicode's cluster rules (UAX 29)."""
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if _JOINER in (before, after):
        return True
    code = ord(after)
    if code in _REGIONAL and ord(before) in _REGIONAL:
        return _regional_run(text, at) % 2 == 1
    return code in _SKIN or code in _HANGUL_FOLLOWERS or unicodedata.category(after) in ("Mn", "Me", "Mc")


def _regional_run(text: str, at: int) -> int:
    """How many regional indicators stand in a row before `at`; flags are pairs of them."""
    start = at
    while start > 0 and ord(text[start - 1]) in _REGIONAL:
        start -= 1
    return at - start
