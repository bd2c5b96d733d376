"""What can be told of two glob patterns without trying every tag: which covers which, and a tag that one matches.

Pure; called by consolidate/review.py.  Patterns are fnmatch's, case-sensitive, over whole tags.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate

_SPECIAL = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
_SAMPLES = "xabcdefghijklmnopqrstuvwyz0123456789-_:/XA"


def is_literal(glob: str) -> bool:
    """Whether the pattern matches one tag alone: itself."""
    return _SPECIAL.search(glob) is None


def covers(wide: str, narrow: str) -> bool:
    """Whether every tag that `narrow` matches is one that `wide` matches; False also where that cannot be shown."""
    if wide in (narrow, "*"):
        return True
    if is_literal(narrow):
        return fnmatchcase(narrow, wide)
    if wide.endswith("*") and is_literal(wide[:-1]):
        return _head(narrow).startswith(wide[:-1])
    if wide.startswith("*") and is_literal(wide[1:]):
        return _tail(narrow).endswith(wide[1:])
    return False


def can_match(glob: str) -> bool:
    """Whether any tag matches at all: a class such as `[z-a]` holds no character."""
    return "(?!)" not in translate(glob)


def example(glob: str) -> str | None:
    """A tag that the pattern matches, or None where none was found."""
    pieces = []
    place = 0
    while place < len(glob):
        found = _CLASS.match(glob, place) if glob[place] == "[" else None
        piece = found[0] if found else glob[place]
        place += len(piece)
        pieces.append(_sample(piece) if found else "x" if piece in "*?" else piece)
    made = "".join(pieces)
    return made if fnmatchcase(made, glob) else None


def _sample(one_of: str) -> str:
    """A character of a class."""
    return next((char for char in (*_SAMPLES, *one_of) if fnmatchcase(char, one_of)), "x")


def _head(glob: str) -> str:
    """The literal text the pattern begins with."""
    found = _SPECIAL.search(glob)
    return glob if found is None else glob[: found.start()]


def _tail(glob: str) -> str:
    """The literal text the pattern ends with."""
    return re.split(r"[*?\[\]]", glob)[-1]
