"""How many tokens a text is, near enough for budgets.  Called by recall, retain and reflect.

An estimate of OpenAI's o200k vocabulary, which itself weighs 75 MB.  Measured against it on texts of forty languages
and kinds (tests/unit/text/test_tokens.py): a text of twenty tokens and more is off by a third at most, English prose,
code and JSON in bulk by a tenth.  Random characters of rare scripts may count too little by half or more.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from math import ceil
from typing import Final

_SIGNS: Final = r"!-/:-@\[-^`{-~\u2000-\u206f"
_LATIN: Final = r"A-Za-z\u00aa-\u024f\u1e00-\u1eff"
# Each match is one token: a sign that is repeated, a contraction, words by length, digits by threes, signs by fours, an
# indentation.  A sign between two words, as of `a.b` or `a_b`, is of the second word's token.
_ONE_TOKEN: Final = (
    rf"[A-Z]?[a-z]{{1,10}}|[A-Z]{{1,4}}|\d{{1,3}}|([{_SIGNS}_])\1{{4,63}}|'(?:[a-z]|re|ve|ll)\b"
    rf"|(?!(?<=\w)[{_SIGNS}][A-Za-z])[{_SIGNS}]{{1,4}}|_(?![A-Za-z])|\n\s*|[^\S\n]{{2,}}"
)
_ASCII: Final = re.compile(_ONE_TOKEN)
# Letters and digits of one token at most, and what is neither: each of them is of some token.
_LONGEST_TOKEN: Final = 11
_NEITHER: Final = bytes(point for point in range(128) if not chr(point).isalnum())
_WORDS: Final = re.compile(rf"[{_LATIN}]+")
_BEYOND_ASCII: Final = re.compile(r"[\u00aa-\u024f\u1e00-\u1eff]")
_RARE_LETTERS: Final = re.compile(r"[\u0100-\u024f]")
_UNBROKEN: Final = re.compile(r"[A-Za-z0-9+/]{32,}")
_CLASSES: Final = re.compile(r"[A-Z]+|[a-z]+|\d+")
_TOKENS_PER_RANDOM: Final = 0.66
# Of a letter past the fifth of a word, of an accent, and of one that Western languages do not have besides.
_TOKENS_PER_EXCESS, _TOKENS_PER_ACCENT, _TOKENS_PER_RARE = 0.27, 0.2, 0.4

# From which character on, how many letters of a word make one piece, and how many tokens a piece is.
_SCRIPTS: Final = (
    (0x0250, 2, 1.0), (0x0370, 4, 1.15), (0x0400, 5, 1.15), (0x0530, 5, 1.1), (0x0590, 3, 1.0), (0x0600, 4, 1.0),
    (0x0900, 3, 1.0), (0x0E00, 3, 1.1), (0x0F00, 1, 1.5), (0x1000, 2, 1.0), (0x10A0, 3, 1.0), (0x1100, 1, 1.9),
    (0x1780, 1, 0.72), (0x1800, 1, 1.9), (0x1E00, 0, 0.0), (0x1F00, 4, 1.15), (0x2000, 0, 0.0), (0x2070, 1, 1.1),
    (0x2500, 3, 1.0), (0x2580, 1, 1.1), (0x2E80, 1, 0.77), (0xA000, 1, 1.5), (0xAC00, 1, 0.75), (0xD7B0, 1, 1.6),
    (0xF900, 1, 0.77), (0xFB00, 1, 1.1), (0xFF00, 1, 0.77), (0x10000, 1, 1.6), (0x20000, 1, 3.0), (0x110000, 0, 0.0),
)  # fmt: skip
_OTHERS: Final = re.compile(r"[\u0250-\u1dff\u1f00-\u1fff\u2070-\U0010ffff]+")
_FIRSTS: Final = [first for first, _, _ in _SCRIPTS]
_RUNS: Final = re.compile(
    "|".join(
        f"[{chr(first)}-{chr(after - 1)}]+" for (first, letters, _), (after, _, _) in pairwise(_SCRIPTS) if letters
    )
)


def count_tokens(text: str) -> int:
    """About how many tokens the text is; a space between words counts with the word, special tokens as plain text."""
    tokens = 0.0
    for run in _UNBROKEN.findall(text) if len(text) >= 32 else ():
        if _is_random(run):
            tokens += _TOKENS_PER_RANDOM * len(run)
            text = text.replace(run, "", 1)
    if text.isascii():
        return ceil(tokens) + len(_ASCII.findall(text))
    return ceil(tokens + len(_ASCII.findall(_BEYOND_ASCII.sub("", text))) + _foreign_words(text) + _other_scripts(text))


def fewest_tokens(text: str) -> int:
    """A number that the text's tokens are never below, at a hundredth of the cost of counting them."""
    return len(text.encode("ascii", "ignore").translate(None, _NEITHER)) // _LONGEST_TOKEN


def _is_random(run: str) -> bool:
    """Whether the run is a key or an encoded file: of both cases, which change all the time."""
    return not run.islower() and not run.isupper() and 4 * len(_CLASSES.findall(run)) > len(run)


def _foreign_words(text: str) -> float:
    """What long words and letters with accents add, the long words in proportion to how many have such letters."""
    accents = len(_BEYOND_ASCII.findall(text))
    if not accents:
        return 0.0
    words = _WORDS.findall(text)
    foreign = sum(not word.isascii() for word in words)
    excess = sum(len(word) - 5 for word in words if len(word) > 5)
    of_words = _TOKENS_PER_EXCESS * excess * min(10 * foreign / len(words), 1.0)
    return of_words + _TOKENS_PER_ACCENT * accents + _TOKENS_PER_RARE * len(_RARE_LETTERS.findall(text))


def _other_scripts(text: str) -> float:
    tokens = 0.0
    for run in (run for others in _OTHERS.findall(text) for run in _RUNS.findall(others)):
        _, letters, each = _SCRIPTS[bisect_right(_FIRSTS, ord(run[0])) - 1]
        tokens += each * ceil(len(run) / letters)
    return tokens


def truncate(text: str, most: int) -> str:
    """A beginning of the text, cut between characters as late as may be, that counts as at most `most` tokens."""
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
