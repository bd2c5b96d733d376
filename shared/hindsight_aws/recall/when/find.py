"""Finds the windows of time that a query's words mean.  Called by recall; calls the grammars.  Never raises."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Final

from hindsight_aws.recall.when import dates, elapsed, periods, relative
from hindsight_aws.recall.when.cjk import HAS_CJK, cjk_spans
from hindsight_aws.recall.when.clauses import clause
from hindsight_aws.recall.when.lists import listed
from hindsight_aws.recall.when.reader import Grammar, Read, Reader
from hindsight_aws.recall.when.tokens import Token, tokens_of
from hindsight_aws.recall.when.window import EARLIEST, LEAST_CONFIDENCE, Window

_RULES: Final[Grammar] = (
    (dates.dated, "dated"),
    (elapsed.beside, "number unit to weekday"),
    (relative.day_in_week, "relative unit whole"),
    (relative.day, "day night whole"),
    (relative.part, "part"),
    (periods.nth_of, "relative ordinal nth dot unit weekday"),
    (dates.year_then_date, "relative unit whole number ago_before year to"),
    (elapsed.rolling, "relative rolling number"),
    (elapsed.ago, "ago_before few half number to unit"),
    (elapsed.ahead, "ahead_before number to few unit"),
    (dates.day_of_week_and_date, "weekday"),
    (relative.weekday, "relative weekday"),
    (periods.quarter, "quarter year ordinal nth dot"),
    (periods.half, "half year ordinal nth dot"),
    (periods.week_number, "week_number unit"),
    (periods.week_of, "unit"),
    (relative.season, "season relative"),
    (relative.relative_unit, "relative unit"),
    (dates.month_and_day, "month short_month number nth dot ordinal"),
    (dates.month_of_year, "month short_month"),
    (dates.relative_month, "relative month short_month"),
    (dates.holiday, "holiday"),
    (dates.in_month, "in"),
    (dates.in_year, "in_year year_word fiscal"),
    (dates.decade, "decade decade_word german_decade tens unit"),
    (dates.nth, "nth"),
)
_BARE: Final[Grammar] = (
    (dates.bare_month, "of month short_month"),
    (dates.bare_year, "of year_word year"),
)
_LONGEST_QUERY: Final = 4_000
_NIGHT_BEGINS, _NIGHT_ENDS = time(18), time(6)


def time_windows(query: str, now: datetime) -> tuple[Window, ...]:
    """The windows a query asks about, in order of mention, in `now`'s zone; empty for a query without time.

    `now` must be aware.  Phrases that may mean something else (a bare month, a port number) make no window, and so does
    a date that does not exist or lies beyond the calendar.  Only the first 4,000 characters are read.
    """
    text = unicodedata.normalize("NFKC", query[:_LONGEST_QUERY])
    if not HAS_CJK.search(text):
        return tuple(window for _, window in _spaced(text, now) if window.confidence >= LEAST_CONFIDENCE)
    found = list(_cjk(text, now))
    rest = list(text)
    for start, end, _ in found:
        rest[start:end] = "\n" * (end - start)
    placed = [(start, window) for start, _, window in found if window is not None]
    placed += [at_place for at_place in _spaced("".join(rest), now) if at_place[1].confidence >= LEAST_CONFIDENCE]
    return tuple(window for _, window in sorted(placed, key=lambda at_place: at_place[0]))


def _spaced(text: str, now: datetime) -> Iterator[tuple[int, Window]]:
    """What the words separated by spaces say, each with its place in the text."""
    tokens = tokens_of(text)
    reader = Reader(tokens, now.date(), _RULES, _BARE)
    place = 0
    while place < len(tokens):
        said, after = _windows_at(reader, place, now)
        start = tokens[place].start
        yield from ((start, replace(window, text=text[start : _end(tokens, after)])) for window in said)
        place = after


def _windows_at(reader: Reader, place: int, now: datetime) -> tuple[list[Window], int]:
    """What begins at this place, and the next place to look at; `every Monday` is read and is no window."""
    if not reader.at(place).meanings:
        return [], place + 1
    if reader.means(place, "every"):
        read = reader.atom(reader.past_of(place + 1))
        return [], place + 1 if read is None else read.after
    try:
        bounded, several = clause(reader, place), listed(reader, place)
    except (ValueError, OverflowError):
        return [], place + 1
    if bounded is not None:
        start = EARLIEST if bounded.first is None else _begin(bounded.first, now)
        window = Window(start, _finish(bounded.last, now), bounded.kind, "", bounded.confidence)
        return [window], bounded.after
    reads = several or [read for read in [reader.atom(place)] if read is not None]
    if not reads:
        return [], place + 1
    return [made for read in reads if (made := _window(read, now)) is not None], reads[-1].after


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


def _cjk(text: str, now: datetime) -> Iterator[tuple[int, int, Window | None]]:
    """What is written without spaces says, each with the stretch of the text it takes up; None for no day there is."""
    for read in cjk_spans(text, now.date()):
        window = None
        if read.span is not None:
            first, last = read.span
            start = EARLIEST if first is None else _begin(first, now)
            window = Window(start, _finish(last, now), read.kind, text[read.start : read.end])
        yield read.start, read.end, window


def _end(tokens: list[Token], after: int) -> int:
    return tokens[min(after, len(tokens)) - 1].end


def _begin(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time.min, now.tzinfo)


def _finish(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time.max, now.tzinfo)
