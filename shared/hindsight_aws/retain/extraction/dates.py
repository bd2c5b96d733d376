"""Reads the dates a model gives for an event, and the relative ones its words give.  Called by record_facts."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

_YEAR: Final = re.compile(r"(\d{4})")
_MONTH: Final = re.compile(r"(\d{4})-(\d{2})")
_DAY: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d")
_FIRST_YEAR, _LAST_YEAR = 2, 9998

# English only; the first phrase that occurs wins, whatever its place in the text.
_RELATIVE: Final = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), days)
    for words, days in (
        ("last night|yesterday", -1),
        ("today|this morning|this afternoon|this evening|tonight", 0),
        ("tomorrow", 1),
        ("last week", -7),
        ("this week", 0),
        ("next week", 7),
        ("last month", -30),
        ("this month", 0),
        ("next month", 30),
    )
)


def occurred(start: str | None, end: str | None, zone: tzinfo) -> tuple[datetime, datetime] | None:
    """The first and last instant meant, in `zone` where no offset is given.

    None when the start is no real ISO 8601 date.
    A year or a month reaches to its last second, a day is its midnight, and an end before the start is left out.
    """
    first = _range(start, zone)
    if first is None:
        return None
    last = _range(end, zone)
    if last is None or last[1] < first[0]:
        return first
    return first[0], last[1]


def from_words(text: str, said_at: datetime) -> datetime | None:
    """Midnight of the day that an English phrase such as "yesterday" means, counted from `said_at` and in its zone."""
    for phrase, days in _RELATIVE:
        if phrase.search(text):
            try:
                return (said_at + timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)
            except OverflowError:
                return None
    return None


def _range(text: str | None, zone: tzinfo) -> tuple[datetime, datetime] | None:
    text = (text or "").strip()
    try:
        if _YEAR.fullmatch(text):
            return _checked(
                datetime(int(text), 1, 1, tzinfo=zone), datetime(int(text), 12, 31, 23, 59, 59, tzinfo=zone)
            )
        if month := _MONTH.fullmatch(text):
            year, number = int(month[1]), int(month[2])
            last_day = monthrange(year, number)[1]
            return _checked(
                datetime(year, number, 1, tzinfo=zone), datetime(year, number, last_day, 23, 59, 59, tzinfo=zone)
            )
        if not (_DAY.match(text) and text.isascii()):
            return None
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    return _checked(moment, moment)


def _checked(first: datetime, last: datetime) -> tuple[datetime, datetime] | None:
    return (first, last) if first.year >= _FIRST_YEAR and last.year <= _LAST_YEAR else None


def zone_of(happened: datetime | None) -> tzinfo:
    """The zone in which an item's dates are meant: its own offset, UTC for an undated item."""
    return UTC if happened is None or happened.tzinfo is None else happened.tzinfo
