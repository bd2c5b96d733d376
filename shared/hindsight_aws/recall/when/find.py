"""Finds the windows of time that a query's words mean.  Called by recall; calls the grammars.  Never raises."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

from hindsight_aws.recall.when import dates, relative
from hindsight_aws.recall.when.cjk import HAS_CJK, cjk_spans
from hindsight_aws.recall.when.clauses import clause
from hindsight_aws.recall.when.reader import Read, Reader, Rule
from hindsight_aws.recall.when.tokens import Token, tokens_of
from hindsight_aws.recall.when.window import EARLIEST, LEAST_CONFIDENCE, Window

_RULES: Final[tuple[Rule, ...]] = (
    relative.dated,
    relative.day,
    relative.part,
    relative.rolling,
    relative.ago,
    relative.weekday,
    relative.quarter,
    relative.season,
    relative.relative_unit,
    dates.month_and_day,
    dates.month_of_year,
    dates.holiday,
    dates.in_month,
    dates.in_year,
    dates.decade,
    dates.nth,
)
_BARE: Final[tuple[Rule, ...]] = (dates.bare_month, dates.bare_year)
_LONGEST_QUERY: Final = 4_000
_NIGHT_BEGINS, _NIGHT_ENDS = time(18), time(6)


def time_windows(query: str, now: datetime) -> tuple[Window, ...]:
    """The windows a query asks about, in order of mention, in `now`'s zone; empty for a query without time.

    `now` must be aware.  Phrases that may mean something else (a bare month, a port number) make no window, and so does
    a date that does not exist or lies beyond the calendar.  Only the first 4,000 characters are read.
    """
    text = unicodedata.normalize("NFKC", query[:_LONGEST_QUERY])
    found = [*_spaced(text, now), *(_cjk(text, now) if HAS_CJK.search(text) else ())]
    return tuple(window for window in found if window.confidence >= LEAST_CONFIDENCE)


def _spaced(text: str, now: datetime) -> Iterator[Window]:
    tokens = tokens_of(text)
    reader = Reader(tokens, now.date(), _RULES, _BARE)
    place = 0
    while place < len(tokens):
        said, after = _window_at(reader, place, now)
        if said is not None:
            phrase = text[tokens[place].start : _end(tokens, after)]
            yield Window(said.start, said.end, said.kind, phrase, said.confidence)
        place = after


def _window_at(reader: Reader, place: int, now: datetime) -> tuple[Window | None, int]:
    try:
        bounded = clause(reader, place)
    except (ValueError, OverflowError):
        return None, place + 1
    if bounded is not None:
        start = EARLIEST if bounded.first is None else _begin(bounded.first, now)
        return Window(start, _finish(bounded.last, now), bounded.kind, "", bounded.confidence), bounded.after
    read = reader.atom(place)
    if read is None:
        return None, place + 1
    return _window(read, now), read.after


def _window(read: Read, now: datetime) -> Window | None:
    if read.hours is not None:
        try:
            return Window(now - timedelta(hours=read.hours), now, confidence=read.confidence)
        except OverflowError:
            return None
    if read.span is None:
        return None
    first, last = read.span
    if read.is_night:
        begins, ends = (
            datetime.combine(first, _NIGHT_BEGINS, now.tzinfo),
            datetime.combine(last, _NIGHT_ENDS, now.tzinfo),
        )
        return Window(begins, ends, confidence=read.confidence)
    return Window(_begin(first, now), _finish(last, now), confidence=read.confidence)


def _cjk(text: str, now: datetime) -> Iterator[Window]:
    for read in cjk_spans(text, now.date()):
        if read.span is not None:
            first, last = read.span
            yield Window(_begin(first, now), _finish(last, now), "interval", text[read.start : read.end])


def _end(tokens: list[Token], after: int) -> int:
    return tokens[min(after, len(tokens)) - 1].end


def _begin(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time.min, now.tzinfo)


def _finish(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time.max, now.tzinfo)
