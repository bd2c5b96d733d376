"""Reads a query's tokens as of one day, by rules that look at one place each.  Called by find.py, which gives them.

A rule answers what it read at a place, or None; the first one that reads something wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.lexicon import NAMES
from hindsight_aws.recall.when.spans import Span
from hindsight_aws.recall.when.tokens import Token

_LAST_DAY: Final = 31
_MOST_ARTICLES: Final = 4
_DEEPEST: Final = 4
"""Rules within rules (the end of the first week of March); deeper text is no phrase, and time stays linear."""
_ARTICLES: Final = frozenset({"a", "an"})
_FRENCH: Final = frozenset({"dernier", "passé", "prochain", "cet"})
"""Beside one of these `an` is a year; elsewhere it may be the English article."""
_ENGLISH: Final = frozenset({"last", "next", "previous", "this", "current", "coming", "upcoming"})
_NAMED: Final = ("unit", "weekday", "month", "short_month", "season", "number")
SURE, LIKELY, UNSURE = 1.0, 0.8, 0.6
"""How sure a rule may be that a date is meant."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a rule read: `span` None for a date that does not exist; `after` is the first token it left.

    `hours` back from now takes the place of the span.  `has_year` tells a year that was said from one supplied.
    """

    span: Span | None
    after: int
    confidence: float = SURE
    has_year: bool = True
    hours: int | None = None
    is_night: bool = False


Rule = Callable[["Reader", int], Read | None]
Grammar = tuple[tuple[Rule, str], ...]
"""Rules in the order in which they are tried, each with the meanings its first token may have."""
Opened = tuple[tuple[Rule, frozenset[str]], ...]
_NOTHING: Final = Token("", 0, 0)


@cache
def _opened(grammar: Grammar) -> Opened:
    return tuple((rule, frozenset(kinds.split())) for rule, kinds in grammar)


class Reader:
    """Reads one query's tokens as of one day; `bare` are rules that hold only where a bound precedes."""

    def __init__(self, tokens: Sequence[Token], today: date, rules: Grammar, bare: Grammar) -> None:
        self.tokens = tokens
        self.today = today
        self._rules = _opened(rules)
        self._bare = _opened(bare)
        self._depth = 0
        self._read: dict[int, Read | None] = {}

    def at(self, place: int) -> Token:
        """The token at a place, an empty one past the end."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _NOTHING

    def means(self, place: int, *kinds: str) -> bool:
        """Whether the token at a place has one of these meanings."""
        meanings = self.at(place).meanings
        return any(kind in meanings for kind in kinds)

    def past(self, place: int, *kinds: str) -> int:
        """The first place from here on that has none of these meanings; a few are skipped, not a whole text of them."""
        for _ in range(_MOST_ARTICLES):
            if not self.means(place, *kinds):
                break
            place += 1
        return place

    def past_of(self, place: int) -> int:
        """The first place from here on that is no article or "of"."""
        return self.past(place, "of")

    def atom(self, place: int, *, is_bound: bool = False) -> Read | None:
        """What is said at this place; within a bound (`since March`) a bare month or year counts as well."""
        read = self._first(place, self._rules)
        return self._first(place, self._bare) if read is None and is_bound else read

    def _first(self, place: int, rules: Opened) -> Read | None:
        """What the first rule reads that reads anything; read once for each place that a text begins at."""
        meanings = self.at(place).meanings
        is_kept = self._depth == 0 and rules is self._rules
        if not meanings or self._depth >= _DEEPEST:
            return None
        if is_kept and place in self._read:
            return self._read[place]
        self._depth += 1
        read = None
        try:
            for rule, kinds in rules:
                if not kinds.isdisjoint(meanings) and (read := rule(self, place)) is not None:
                    break
        except (ValueError, OverflowError):
            read = Read(None, place + 1)
        finally:
            self._depth -= 1
        if is_kept:
            self._read[place] = read
        return read

    def latest_month(self, number: int) -> Span:
        """The latest month of this number that has begun."""
        year = self.today.year if number <= self.today.month else self.today.year - 1
        return spans.month(year, number)

    def latest_day(self, month: int, day: int) -> Span:
        """The latest day of this date that is not to come."""
        then = date(self.today.year, month, day)
        then = then if then <= self.today else date(self.today.year - 1, month, day)
        return then, then

    def is_near(self, year: int) -> bool:
        """Whether a year is near enough to be meant."""
        return spans.is_near(self.today, year)

    def year_at(self, place: int) -> int | None:
        """A year that is near enough to be meant and counts nothing."""
        year = self.at(place).number("year")
        return year if year is not None and self.is_near(year) and not self._counts(place + 1) else None

    def year_said(self, place: int) -> tuple[int, int] | None:
        """The year of what precedes, and the place after it: `2025`, `of last year`, `de hace dos años`."""
        at = self.past(place, "of", "in", "year_word")
        year = self.at(at).number("year")
        if year is not None:
            return None if self._counts(at + 1) else (year, at + 1)
        if (whole := self.at(at).name("whole") or "").startswith("year:"):
            return self.today.year + int(whole.partition(":")[2]), at + 1
        at = self.past_of(place)
        relative = self.relative_at(at) or self.relative_at(place)
        if relative is not None and relative[0] == "year":
            return self.today.year + relative[1], relative[2]
        at += self.means(at, "ago_before")
        count = self.count_at(at)
        if count and self.at(at + 1).name("unit") == "year":
            if self.means(at + 2, "ago_after"):
                return self.today.year - count, at + 3
            if self.means(at - 1, "ago_before"):
                return self.today.year - count, at + 2
        return None

    def relative_at(self, place: int) -> tuple[str, int, int] | None:
        """`last week`, `semana pasada`, `week before last`: the unit, how many from this one, and the place after."""
        first, second = self.at(place), self.at(place + 1)
        name, shift = first.name("unit"), self.at(place + 2).number("relative")
        for kind, far in (("before", -1), ("after", 1)):
            if name and shift == far and kind in second.meanings and not self.means(place + 3, *_NAMED):
                return name, 2 * far, place + 3
        for word, unit in ((first, second), (second, first)):
            shift, name = word.number("relative"), unit.name("unit")
            is_article = unit.text.casefold() == "an" and word.text.casefold() not in _FRENCH
            is_apart = word is second and self.is_english(place + 1)
            if shift is not None and name is not None and not (is_article or is_apart):
                return name, shift, place + 2
        return None

    def is_english(self, place: int) -> bool:
        """Whether it is an English `last` or `next`, which stands before its word and never after it."""
        return self.at(place).text.casefold() in _ENGLISH

    def count_at(self, place: int) -> int | None:
        """A number in digits or words; "a" and "an" are one."""
        token = self.at(place)
        return 1 if token.text.casefold() in _ARTICLES else token.number("number")

    def ordinal_at(self, place: int) -> int | None:
        """`first`, `1st`, `1.`."""
        token = self.at(place)
        return next((token.number(kind) for kind in ("ordinal", "nth", "dot") if kind in token.meanings), None)

    def day_at(self, place: int) -> int | None:
        """A number in digits that may be a day of a month."""
        token = self.at(place)
        number = token.number("nth") or token.number("number")
        said = token.text[:1].isdigit() and "year" not in token.meanings
        return number if said and number is not None and 1 <= number <= _LAST_DAY else None

    def month_at(self, place: int) -> int | None:
        """A month by its full name that is not the name of somebody."""
        token = self.at(place)
        number = token.number("month")
        following = self.at(place + 1)
        is_name = token.text.casefold() in NAMES and token.is_capitalised and following.is_capitalised
        is_owner = token.text.casefold() in NAMES and "owner" in token.meanings
        return None if number is None or is_owner or (is_name and not following.meanings) else number

    def any_month_at(self, place: int) -> int | None:
        """A month by its full name or its short one."""
        short = self.at(place).number("short_month")
        return self.month_at(place) if short is None else short

    def _counts(self, place: int) -> bool:
        """Whether what follows tells that a number is no year: `2000 rows`, `1984 by Orwell`."""
        token = self.at(place)
        is_title = token.text.casefold() == "by" and self.at(place + 1).is_capitalised
        return "counted" in token.meanings or (is_title and not self.at(place + 1).meanings)
