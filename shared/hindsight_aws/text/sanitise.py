"""Makes text fit to store: called on every string that comes in, from callers and from models alike."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_UNFIT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


def clean(text: str) -> str:
    """The text without C0 controls (TAB, LF and CR stay), DEL and lone surrogates; everything else is kept as it is.

    Idempotent.  No Unicode normalisation: bidi marks, joiners and emoji come out as they went in.
    """
    return _UNFIT.sub("", text)


def can_be_stored(text: str) -> bool:
    """Whether Postgres can hold the text at all: it refuses NUL and lone surrogates."""
    return _UNSTORABLE.search(text) is None


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: only white space, controls and format characters such as U+200B."""
    return all(unicodedata.category(char) in _INVISIBLE for char in text)
