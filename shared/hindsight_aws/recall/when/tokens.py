"""Cuts a query into tokens of time: words by the lexicon, dates by their form.  Called by the grammar; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from hindsight_aws.recall.when.lexicon import LEXICON, LONGEST
from hindsight_aws.recall.when.spans import Span, month, quarter

_WORDS: Final = frozenset(word for phrase in LEXICON for word in phrase)
_SPANNED: Final = frozenset({"month", "short_month", "weekday"})
_NUMBERS: Final = ("grouped", "number", "dot")
_PARTICLES: Final = "에는은의도엔"
_FORM: Final = re.compile(
    r"""
    (?P<iso_week>\b\d{4}-?W\d{2}\b(?!-?\d))
  | (?P<iso_day>\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d|-\d{3}\b))
  | (?P<iso_month>\b\d{4}-(?:0\d|1[0-9])\b(?![-\d]))
  | (?P<month_year>\b(?:0?[1-9]|1[0-2])/\d{4}\b)
  | (?P<slashed>\b\d{1,2}/\d{1,2}/\d{4}\b)
  | (?P<dotted>\b\d{1,2}\.\d{1,2}\.\d{4}\b)
  | (?P<clock>\b\d{1,2}[:h]\d{2}(?::\d{2})?\b|\b\d{1,2}\s?[ap]\.?m\b\.?)
  | (?P<decade>(?:\b\d{3}|['’]?\b\d)0['’]?(?:s|er)n?\b)
  | (?P<year_quarter>\b\d{4}[-/]?[QqT][1-4]\b|\b[1-4][Qq]\d{2}(?:\d\d)?\b|\b[QqT][1-4][-/]\d{4}\b)
  | (?P<quarter>\b[QqT][1-4]\b)
  | (?P<half>\b[HS][12]\b)
  | (?P<fiscal>\bFY\s?['’]?(?:\d{4}|\d{2})\b)
  | (?P<week>\b(?:KW\s?|W)\d{1,2}\b)
  | (?P<nth>\b\d{1,2}(?:(?:st|nd|rd|th|er|re|ère|ème|[oae])\b|°))
  | (?P<short_year>(?<!\w)['’]\d\d\b)
  | (?P<grouped>\b\d{1,3}(?:,\d{3})+\b)
  | (?P<version>\b[vV]?\d+(?:\.\d+)+\b)
  | (?P<dot>\b\d{1,2}\.(?=\s+[^\W\d_]|\s*$|\s?[-–—]))
  | (?P<number>\d+)
  | (?P<dash>(?<=[\w.])\s[-–—]\s(?=\w)|(?<=[\d.])\s?[-–—]\s?(?=\w)|(?<=\w)[–—](?=\w)|(?<=-\d\d)/(?=\d{4}-))
  | (?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?)
  | (?P<stop>[.!?;:|()\[\]{}<>=+*`"“”«»→\n]|\s/\s|(?<=[^\W\d_])/)
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
            meanings = dict(LEXICON[tuple(_folded(piece) for piece in pieces[at : at + length])])
            tokens.append(Token(text[first.start : last.end], first.start, last.end, meanings))
        at += length
    return tokens


def _phrase(pieces: list[Token]) -> bool:
    return all(piece.meanings.get("form") == "word" for piece in pieces) and tuple(map(_folded, pieces)) in LEXICON


def _single(piece: Token) -> Token:
    if piece.meanings.get("form") != "word":
        return piece
    folded = _folded(piece)
    owner = folded.removesuffix("'s")
    known = dict(LEXICON.get((folded,)) or LEXICON.get((owner,)) or LEXICON.get((folded.rstrip(_PARTICLES),), ()))
    if "owner" in piece.meanings or owner != folded:
        known["owner"] = 1
    return Token(piece.text, piece.start, piece.end, known)


def _folded(piece: Token) -> str:
    return piece.text.casefold().replace("’", "'")


def _pieces(text: str) -> Iterator[Token]:
    former = ""
    for match in _FORM.finditer(text):
        form, word, former = match.lastgroup or "", former, match[0].casefold()
        if form == "stop" and any(kind == "short_month" for kind, _ in LEXICON.get((word,), ())):
            continue  # Dec. 25
        if form == "word":
            yield from _words(match[0], match.start())
        else:
            yield _formed(form, match[0], match.start(), match.end())


def _words(text: str, start: int) -> Iterator[Token]:
    """A word as it stands if the lexicon has it, else its parts: `l'année` is two words, `week-end` is one.

    A possessive is its owner: `Monday's` is Monday.  A hyphen after a month or a weekday is a span's: `Jan-Mar`.
    """
    folded = text.casefold().replace("’", "'")
    if folded in _WORDS:
        yield Token(text, start, start + len(text), {"form": "word"})
        return
    owner = re.sub(r"'s?$", "", folded)
    if owner != folded and owner in _WORDS:
        yield Token(text[: len(owner)], start, start + len(text), {"form": "word", "owner": 1})
        return
    for part in re.finditer(r"[^\W\d_]+['’]?|-", text):
        if part[0] != "-":
            yield Token(part[0], start + part.start(), start + part.end(), {"form": "word"})
        elif _SPANNED & {kind for kind, _ in LEXICON.get((folded[: part.start()].rpartition("-")[2],), ())}:
            yield Token("-", start + part.start(), start + part.end(), {"to": 0, "dash": 0})


def _formed(form: str, text: str, start: int, end: int) -> Token:
    if form in ("iso_week", "iso_day", "iso_month", "slashed", "dotted", "month_year", "year_quarter"):
        return Token(text, start, end, {"dated": 1}, _dated(form, text))
    return Token(text, start, end, _meanings(form, text, re.sub(r"\D", "", text)))


def _meanings(form: str, text: str, digits: str) -> dict[str, int | str]:
    """What a form means: which decade, quarter, week, year, day or number."""
    if form == "dash":
        return {"to": 0, "dash": 0}
    if form == "decade":
        return {"decade": _decade(digits), "is_short": int(len(digits) == 2 and text[0].isdigit())}
    if form in ("quarter", "half"):
        return {form: int(text[1])}
    if form == "week":
        return {"week_number": int(digits), "is_short": int(text[0] == "W")}
    if form in ("fiscal", "short_year"):
        return {"year": int(digits) if len(digits) == 4 else short_year(int(digits)), form: 1}
    if form == "nth":
        return {"nth": int(digits)}
    if form not in _NUMBERS:
        return {"stop" if form == "stop" else "noise": 1}
    value = int(digits) if len(digits) <= 9 else 10**9
    more: dict[str, int | str] = (
        {"dot": value} if form == "dot" else {"year": value} if form == "number" and len(text) == 4 else {}
    )
    return {"number": value} | more


def short_year(digits: int) -> int:
    """The year that two digits mean: up to 49 of this century, else of the last."""
    return digits + (2000 if digits < 50 else 1900)


def _decade(digits: str) -> int:
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (_DECADES_FROM if int(digits) >= 30 else 2000)


def _dated(form: str, text: str) -> Span | None:
    """The day, week, month or quarter a formed date names; None when there is no such day."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    try:
        if form == "iso_week":
            year, week = (numbers[0], numbers[1]) if len(numbers) == 2 else (numbers[0] // 100, numbers[0] % 100)
            return date.fromisocalendar(year, week, 1), date.fromisocalendar(year, week, 7)
        if form == "iso_month":
            return month(numbers[0], numbers[1])
        if form == "year_quarter":
            year, number = numbers if numbers[0] > 4 else (numbers[1], numbers[0])
            return quarter(year if year > 99 else short_year(year), number)
        if form == "month_year":
            return month(numbers[1], numbers[0])
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
