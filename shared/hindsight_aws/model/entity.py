"""Entities: what makes two names one."""

from __future__ import annotations

import unicodedata
from typing import Final

_DOTTED_I: Final = "i\u0307"


def name_key(name: str) -> str:
    """The form in which names are compared: without regard to case, and to how an accent is encoded.

    Folded here and nowhere else, because a database folds some letters otherwise (the dotted capital I among them).
    """
    folded = unicodedata.normalize("NFC", name).casefold().replace(_DOTTED_I, "i")
    return unicodedata.normalize("NFC", folded)
