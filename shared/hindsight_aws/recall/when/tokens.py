"""Cuts a query into tokens of time: words by the lexicon, dates by their form.  Called by the grammar; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from hindsight_aws.recall.when.lexicon import LEXICON, LONGEST
from hindsight_aws.recall.when.spans import Span, month

_WORDS: Final = frozenset(word for phrase in LEXICON for word in phrase)
_PARTICLES: Final = "에는은의도엔"
_FORM: Final = re.compile(
    r"""
    (?P<iso_week>\b\d{4}-?W\d{2}\b(?!-?\d))
  | (?P<iso_day>\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d))
  | (?P<iso_month>\b\d{4}-\d{2}\b(?![-\d]))
  | (?P<slashed>\b\d{1,2}/\d{1,2}/\d{4}\b)
  | (?P<dotted>\b\d{1,2}\.\d{1,2}\.\d{4}\b)
  | (?P<clock>\b\d{1,2}[:h]\d{2}(?::\d{2})?\b|\b\d{1,2}\s?[ap]\.?m\b\.?)
  | (?P<decade>(?:\b\d{3}|['’]?\b\d)0['’]?s\b)
  | (?P<quarter>\b[QT][1-4]\b)
  | (?P<nth>\b\d{1,2}(?:st|nd|rd|th|º|ª|er|ème)\b)
  | (?P<grouped>\b\d{1,3}(?:,\d{3})+\b)
  | (?P<version>\b[vV]?\d+(?:\.\d+)+\b)
  | (?P<number>\d+)
  | (?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?)
  | (?P<stop>[.!?;\n])
    """,
    re.VERBOSE,
)
_DECADES_FROM: Final = 1900


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of the query with all it may mean: kinds of the lexicon, a number, a year, a span of days."""

    text: str
    start: int
    end: int
    meanings: Mapping[str, int | str] = field(default_factory=dict)
    span: Span | None = None

    def number(self, kind: str) -> int | None:
        """The value it has as this kind, when that is a number."""
        value = self.meanings.get(kind)
        return value if isinstance(value, int) else None

    def name(self, kind: str) -> str | None:
        """The value it has as this kind, when that is a word."""
        value = self.meanings.get(kind)
        return value if isinstance(value, str) else None

    @property
    def is_capitalised(self) -> bool:
        """Whether it begins with a capital, as names do."""
        return self.text[:1].isupper()


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, in order; the longest phrase of the lexicon wins at each place."""
    pieces = list(_pieces(text))
    tokens: list[Token] = []
    at = 0
    while at < len(pieces):
        length = next((n for n in range(min(LONGEST, len(pieces) - at), 1, -1) if _phrase(pieces[at : at + n])), 1)
        if length == 1:
            tokens.append(_single(pieces[at]))
        else:
            first, last = pieces[at], pieces[at + length - 1]
            meanings = LEXICON[tuple(_folded(piece) for piece in pieces[at : at + length])]
            tokens.append(Token(text[first.start : last.end], first.start, last.end, dict(meanings)))
        at += length
    return tokens


def _phrase(pieces: list[Token]) -> bool:
    return all(piece.meanings.get("form") == "word" for piece in pieces) and tuple(map(_folded, pieces)) in LEXICON


def _single(piece: Token) -> Token:
    if piece.meanings.get("form") != "word":
        return piece
    folded = _folded(piece)
    known = LEXICON.get((folded,)) or LEXICON.get((folded.rstrip(_PARTICLES),), ())
    return Token(piece.text, piece.start, piece.end, dict(known))


def _folded(piece: Token) -> str:
    return piece.text.casefold().replace("’", "'")


def _pieces(text: str) -> Iterator[Token]:
    for match in _FORM.finditer(text):
        form = match.lastgroup or ""
        if form == "word":
            yield from _words(match[0], match.start())
        else:
            yield _formed(form, match[0], match.start(), match.end())


def _words(text: str, start: int) -> Iterator[Token]:
    """A word as it stands if the lexicon has it, else its parts: `l'année` is two words, `week-end` is one."""
    if text.casefold().replace("’", "'") in _WORDS:
        yield Token(text, start, start + len(text), {"form": "word"})
        return
    for part in re.finditer(r"[^\W\d_]+['’]?", text):
        yield Token(part[0], start + part.start(), start + part.end(), {"form": "word"})


def _formed(form: str, text: str, start: int, end: int) -> Token:
    if form in ("iso_week", "iso_day", "iso_month", "slashed", "dotted"):
        return Token(text, start, end, {"dated": 1}, _dated(form, text))
    if form == "decade":
        return Token(text, start, end, {"decade": _decade(text)})
    if form == "quarter":
        return Token(text, start, end, {"quarter": int(text[1])})
    if form == "nth":
        return Token(text, start, end, {"nth": int(re.sub(r"\D", "", text))})
    if form == "grouped":
        return Token(text, start, end, {"number": int(text.replace(",", ""))})
    if form == "number":
        value = int(text) if len(text) <= 9 else 10**9
        meanings: dict[str, int | str] = {"number": value}
        if len(text) == 4:
            meanings["year"] = value
        return Token(text, start, end, meanings)
    return Token(text, start, end, {"stop" if form == "stop" else "noise": 1})


def _decade(text: str) -> int:
    digits = int(re.sub(r"\D", "", text))
    if digits >= 1000:
        return digits
    return digits + (_DECADES_FROM if digits >= 30 else 2000)


def _dated(form: str, text: str) -> Span | None:
    """The day, week or month a formed date names; None when there is no such day."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    try:
        if form == "iso_week":
            year, week = (numbers[0], numbers[1]) if len(numbers) == 2 else (numbers[0] // 100, numbers[0] % 100)
            return date.fromisocalendar(year, week, 1), date.fromisocalendar(year, week, 7)
        if form == "iso_month":
            return month(numbers[0], numbers[1])
        if form == "iso_day":
            year, number, day = numbers
        elif form == "dotted" or numbers[0] > 12:
            day, number, year = numbers
        else:
            number, day, year = numbers
        then = date(year, number, day)
    except ValueError:
        return None
    return then, then
