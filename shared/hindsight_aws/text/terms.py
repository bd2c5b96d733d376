"""Index terms of a text, made the same way for what is stored and for what is asked.

Called by retain (postings) and by recall (query terms).  Pure, and deterministic for one version of the product: a
change here asks for the postings to be made anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from hindsight_aws.text.stems import Script, script_of, stem
from hindsight_aws.text.stopwords import STOP_WORDS

LONGEST_TERM = 64
HIGHEST_FREQUENCY = 32_767

# Combining marks belong to the word they sit in, but `\w` leaves them out: without these, Hindi or Arabic words fall
# apart.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03"
    "\u0b3c-\u0b57\u0b82-\u0bcd\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
    "\u0d62\u0d63\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e"
    "\u1056-\u1059\u17b4-\u17d3"
)
_WORD = rf"[\w{_MARKS}]+"
# A run of words joined by single connecting signs is one candidate identifier: AB-1234, v1.2.3, user_id, a@b.example.
_RUN = re.compile(rf"{_WORD}(?:['’.\-:/@+]{_WORD})*")
_PART = re.compile(rf"[^\W_{_MARKS}][^\W_]*(?:[{_MARKS}]+[^\W_]*)*(?:['’][^\W\d_]+)?")
# A number whose thousands are set apart by one sign, and its decimals, if any, by the other.
_GROUPED = re.compile(
    r"(?<![\w.,])\d{1,3}(?:(?:,\d{3})+(?:\.(\d+))?|(?:\.\d{3})+(?:,(\d+))?|(?:['’]\d{3})+(?:\.(\d+))?)(?!\w)"
)
_APOSTROPHE = str.maketrans({"’": "'"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_ACRONYM = re.compile(r"[A-Z]{2,4}")
_SPACELESS = frozenset({Script.HAN, Script.KANA, Script.HANGUL, Script.THAI})
_LONGEST_CACHED = 64


def terms(text: str) -> list[str]:
    """The index terms of `text` in order, with repeats; each at most 64 characters, never empty.

    Words are NFKC-normalised and case-folded, stripped of Latin accents, and stemmed by the stemmer of their script
    (Latin: English; see text/stems.py); English stop words are left out, unless nothing else is left, and but for those
    of two to four capitals in a text with small letters (IT, US, WHO).  A word with ä, ö or ü is kept in both spellings
    without them (muller, mueller), a number with separators also as one number (1,299.00 as 1299).  Runs of Han,
    kana, Hangul and Thai give overlapping pairs of characters, Han its single characters as well, so that a
    one-character query finds them.  Identifiers (joined parts with a digit or an underscore) are kept whole beside
    their parts; numbers are kept as written.
    """
    kept: list[str] = []
    stopped: list[str] = []
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    has_small_letters = plain != plain.upper()
    for run in _RUN.findall(plain):
        for term, standing in _cached_terms(run) if len(run) <= _LONGEST_CACHED else _terms_of_run(run):
            is_kept = standing is _Standing.WORD or (standing is _Standing.CAPITALS and has_small_letters)
            (kept if is_kept else stopped).append(term)
    kept += _grouped_numbers(plain)
    return kept or stopped


def frequencies(text: str) -> dict[str, int]:
    """How often each index term occurs in `text`, in order of first occurrence.

    Counts end at 32,767, as the column does.
    """
    return {term: min(count, HIGHEST_FREQUENCY) for term, count in Counter(terms(text)).items()}


class _Standing(Enum):
    """Whether a term says something: a stop word does not, but in capitals it may be no such word."""

    WORD = 1
    STOP_WORD = 2
    CAPITALS = 3


_Term: TypeAlias = tuple[str, _Standing]


@lru_cache(maxsize=32_768)
def _cached_terms(run: str) -> tuple[_Term, ...]:
    """As `_terms_of_run`, remembered because a language repeats its words: a stem costs 20 µs."""
    return _terms_of_run(run)


def _terms_of_run(run: str) -> tuple[_Term, ...]:
    """The terms of one run, each with its standing."""
    spelt = run.translate(_APOSTROPHE)
    parts = _PART.findall(spelt)
    found = [pair for part in parts for pair in _terms_of_part(part)]
    if len(parts) > 1 and any(char.isdigit() or char == "_" for char in spelt):
        found.append((spelt.casefold()[:LONGEST_TERM], _Standing.WORD))
    return tuple(found)


def _terms_of_part(part: str) -> list[_Term]:
    found: list[_Term] = []
    for script, segment in _segments(part.casefold()):
        if script in _SPACELESS:
            found += [(gram, _Standing.WORD) for gram in _grams(script, segment)]
        elif segment in STOP_WORDS:
            found.append((segment, _Standing.CAPITALS if _ACRONYM.fullmatch(part) else _Standing.STOP_WORD))
        else:
            spellings = dict.fromkeys((segment, segment.translate(_UMLAUTS)))
            found += [(stem(script, spelling[:LONGEST_TERM]), _Standing.WORD) for spelling in spellings]
    return found


def _grouped_numbers(text: str) -> list[str]:
    """The numbers whose thousands are set apart, without what sets them apart: whole, and with their decimals."""
    found: list[str] = []
    for match in _GROUPED.finditer(text):
        decimals = match[1] or match[2] or match[3] or ""
        digits = "".join(char for char in match[0] if char.isdigit())
        whole = digits.removesuffix(decimals)[:LONGEST_TERM]
        found += [whole, f"{whole}.{decimals}"[:LONGEST_TERM]] if decimals else [whole]
    return found


def _segments(part: str) -> list[tuple[Script, str]]:
    """`part` cut where spaceless script meets other script: digits and letters of one word stay together."""
    segments: list[tuple[Script, str]] = []
    if part.isascii():
        return [(Script.LATIN, part)]
    for char in part:
        script = script_of(char)
        if segments:
            before, so_far = segments[-1]
            if script is Script.COMMON or script is before or (before not in _SPACELESS and script not in _SPACELESS):
                segments[-1] = (before if before is not Script.COMMON else script, so_far + char)
                continue
        segments.append((script, char))
    return segments


def _grams(script: Script, segment: str) -> list[str]:
    pairs = [segment[at : at + 2] for at in range(len(segment) - 1)]
    if script is Script.HAN or len(segment) == 1:
        return [*segment, *pairs]
    return pairs
