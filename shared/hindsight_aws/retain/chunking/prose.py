"""Cuts prose into pieces of a bounded size, at the best boundary there is.

Called by chunking and by extraction's splitter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_aws.text.graphemes import cut_before

# Each pattern matches what ends a piece, strongest first; the mark stays with the piece it ends.
_ENDS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n[^\S\n]*\n\s*",
        r"\n\s*",
        r"[.!?…]+[\"'”’)\]]*\s+|[。！？｡]+[」』”’）】]*\s*",
        r"[;:]\s+|[；：]\s*",
        r",\s+|[，、]\s*",
        r"\s+",
    )
)
_BLANK: Final = re.compile(r"\s*")


def each_piece(text: str, size: int) -> Iterator[str]:
    """Pieces of at most `size` code points, in order; joined they are the text but for white space.

    Text that fits is one piece, unchanged; otherwise pieces are trimmed and none is blank.  Splits at paragraphs, then
    lines, sentences (CJK ones too), clauses, words, and only then between characters, never inside a grapheme cluster.
    Holds no more than one piece at a time.
    """
    if len(text) <= size:
        yield text
        return
    held = ""
    for atom in _atoms(text, size, 0):
        if held and len(held) + len(atom.rstrip()) > size:
            if trimmed := held.strip():
                yield trimmed
            held = ""
        held = held + atom if held else atom.lstrip()
    if trimmed := held.strip():
        yield trimmed


def _atoms(text: str, size: int, level: int) -> Iterator[str]:
    """The text in consecutive parts of at most `size`, cut no finer than it takes."""
    if len(text) <= size or _BLANK.fullmatch(text, size):
        yield text
    elif level == len(_ENDS):
        yield from _by_character(text, size)
    else:
        for part in _parts(text, _ENDS[level]):
            yield from _atoms(part, size, level + 1)


def _parts(text: str, end: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for mark in end.finditer(text):
        yield text[start : mark.end()]
        start = mark.end()
    if start < len(text):
        yield text[start:]


def _by_character(text: str, size: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        cut = cut_before(text[start : start + size + 1], size) if len(text) - start > size else len(text) - start
        yield text[start : start + cut]
        start += cut
