"""How many tokens a text is, near enough for budgets.  Called by recall, retain and reflect.

An estimate of OpenAI's o200k vocabulary, which itself weighs 75 MB: measured against it, English, code and JSON in
bulk come out within 6 %, other languages within 15 %; one short text may be off by a third or more.  Budgets are soft
limits, so that is enough.
"""

from __future__ import annotations

import re
from math import ceil

# Each match is one token: words by length, digits by threes, signs by fours, an indentation, a contraction.
_ASCII = re.compile(r"'(?:[a-z]|re|ve|ll)\b|[A-Za-z]{1,10}|\d{1,3}|[^\w\s]{1,4}|_|\n\s*|  +")
_ALPHABETIC = re.compile(
    r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]{1,8}|\d{1,3}|[\u0370-\u058f]{1,5}|[\u0590-\u08ff]{1,4}|[\u0900-\u0dff]{1,3}"
    r"|[\u0e00-\u1dff]{1,3}|[!-/:-@\[-^`{-~\u2000-\u206f]{1,4}|_|\n\s*|  +"
)
_DENSE = re.compile(r"[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_PICTORIAL = re.compile(r"[\u2070-\u2dff\ue000-\uf8ff\ufb00-\ufeff\U00010000-\U0001ffff]")
_TOKENS_PER_DENSE = 0.7
_TOKENS_PER_PICTORIAL = 1.3


def count_tokens(text: str) -> int:
    """About how many tokens the text is; a space between words counts with the word."""
    if text.isascii():
        return len(_ASCII.findall(text))
    return (
        len(_ALPHABETIC.findall(text))
        + ceil(_TOKENS_PER_DENSE * len(_DENSE.findall(text)))
        + ceil(_TOKENS_PER_PICTORIAL * len(_PICTORIAL.findall(text)))
    )


def truncate(text: str, most: int) -> str:
    """The longest beginning of the text, cut between characters, that counts as at most `most` tokens."""
    if most <= 0:
        return ""
    if count_tokens(text) <= most:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count_tokens(text[:middle]) <= most:
            fits = middle
        else:
            too_long = middle
    return text[:fits]
