"""Reads a query's tokens as of one day, by rules that look at one place each.  Called by find.py, which gives them.

A rule answers what it read at a place, or None; the first one that reads something wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.lexicon import NAMES
from hindsight_aws.recall.when.spans import Span
from hindsight_aws.recall.when.tokens import Token

_YEARS_BACK, _YEARS_AHEAD = 120, 20
_ARTICLES: Final = frozenset({"a", "an"})
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
_NOTHING: Final = Token("", 0, 0)


class Reader:
    """Reads one query's tokens as of one day; `bare` are rules that hold only where a bound precedes."""

    def __init__(self, tokens: Sequence[Token], today: date, rules: Sequence[Rule], bare: Sequence[Rule]) -> None:
        self.tokens = tokens
        self.today = today
        self._rules = rules
        self._bare = bare

    def at(self, place: int) -> Token:
        """The token at a place, an empty one past the end."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _NOTHING

    def past_of(self, place: int) -> int:
        """The first place from here on that is no article or "of"."""
        while "of" in self.at(place).meanings:
            place += 1
        return place

    def atom(self, place: int, *, is_bound: bool = False) -> Read | None:
        """What is said at this place; within a bound (`since March`) a bare month or year counts as well."""
        for rule in (*self._rules, *self._bare) if is_bound else self._rules:
            try:
                read = rule(self, place)
            except (ValueError, OverflowError):
                return Read(None, place + 1)
            if read is not None:
                return read
        return None

    def latest_month(self, number: int) -> Span:
        """The latest month of this number that has begun."""
        year = self.today.year if number <= self.today.month else self.today.year - 1
        return spans.month(year, number)

    def latest_day(self, month: int, day: int) -> Span:
        """The latest day of this date that is not to come."""
        then = date(self.today.year, month, day)
        then = then if then <= self.today else date(self.today.year - 1, month, day)
        return then, then

    def year_at(self, place: int) -> int | None:
        """A year that is near enough to be meant."""
        year = self.at(place).number("year")
        near = year is not None and self.today.year - _YEARS_BACK <= year <= self.today.year + _YEARS_AHEAD
        return year if near else None

    def count_at(self, place: int) -> int | None:
        """A number in digits or words; "a" and "an" are one."""
        token = self.at(place)
        return 1 if token.text.casefold() in _ARTICLES else token.number("number")

    def month_at(self, place: int) -> int | None:
        """A month by its full name that is not the name of somebody."""
        token = self.at(place)
        number = token.number("month")
        following = self.at(place + 1)
        is_name = token.text.casefold() in NAMES and token.is_capitalised and following.is_capitalised
        return None if number is None or (is_name and not following.meanings) else number
