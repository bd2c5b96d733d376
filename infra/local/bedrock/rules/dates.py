"""Finds the one date a sentence states, as exact as it states it.

Called by `extract_facts`; calls nothing. Pure; ISO dates in any language, the rest in English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "|".join(_MONTHS)
_ISO = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?))?\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b,?(?: (\d{{4}}))?", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE)
_IN_MONTH = re.compile(rf"\bin ({_MONTH})\b(?: (\d{{4}}))?", re.IGNORECASE)
_IN_YEAR = re.compile(r"\b(?:in|since|during) ((?:19|20)\d{2})\b", re.IGNORECASE)
_LAST_WEEKDAY = re.compile(rf"\b(last|next|on) ({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_RELATIVE = {
    "the day before yesterday": -2,
    "last night": -1,
    "yesterday": -1,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tonight": 0,
    "today": 0,
    "the day after tomorrow": 2,
    "tomorrow": 1,
    "last week": -7,
    "next week": 7,
}
_RELATIVE_WORDS = re.compile(rf"\b({'|'.join(map(re.escape, _RELATIVE))})\b", re.IGNORECASE)
_CHUNK_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?")


@dataclass(frozen=True, slots=True)
class Stated:
    """A date as ISO 8601, and the words that state it."""

    iso: str
    words: str


def read_event_date(spoken: str) -> datetime | None:
    """The instant in a chunk's `date`, weekday or not before it."""
    match = _CHUNK_DATE.search(spoken)
    try:
        return datetime.fromisoformat(match[0]) if match else None
    except ValueError:
        return None


def stated_date(sentence: str, event: datetime | None) -> Stated | None:
    """The first date the sentence states, by the most exact form it uses; relative ones count from `event`."""
    if match := _ISO.search(sentence):
        iso = f"{match[1]}T{match[2]}" if match[2] else match[1]
        return Stated(iso, match[0]) if _is_date(match[1]) else None
    year = event.year if event else None
    for pattern, day_at, month_at in ((_DAY_FIRST, 1, 2), (_MONTH_FIRST, 2, 1)):
        if (match := pattern.search(sentence)) and (match[3] or year):
            iso = f"{match[3] or year}-{_MONTHS.index(match[month_at].lower()) + 1:02d}-{int(match[day_at]):02d}"
            return Stated(iso, match[0].strip()) if _is_date(iso) else None
    if event and (match := _RELATIVE_WORDS.search(sentence)):
        return Stated(_shifted(event, _RELATIVE[match[1].lower()]), match[0])
    if event and (match := _LAST_WEEKDAY.search(sentence)):
        return Stated(_shifted(event, _to_weekday(event, match[1].lower(), match[2].lower())), match[0])
    if (match := _IN_MONTH.search(sentence)) and (match[2] or year):
        return Stated(f"{match[2] or year}-{_MONTHS.index(match[1].lower()) + 1:02d}", match[0])
    if match := _IN_YEAR.search(sentence):
        return Stated(match[1], match[0])
    return None


def _is_date(iso: str) -> bool:
    try:
        date.fromisoformat(iso)
    except ValueError:
        return False
    return True


def _shifted(event: datetime, days: int) -> str:
    try:
        return (event.date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return event.date().isoformat()


def _to_weekday(event: datetime, which: str, weekday: str) -> int:
    ahead = (_WEEKDAYS.index(weekday) - event.weekday()) % 7
    if which == "last":
        return ahead - 7
    return (ahead or 7) if which == "next" else ahead
