"""Rules for counted time: 3 days ago, in two weeks, the last 7 days, two days before Easter 2025.

Called through reader.py.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import UNSURE, Read, Reader
from hindsight_aws.recall.when.spans import Span

_SOME: Final = {"couple": (1, 3), "few": (2, 5)}
_CLOCK: Final = ("hour", "minute")
_ROLLING_AFTER: Final = frozenset({"in", "over", "within", "during", "en", "dans", "nell'", "em", "im"})
_CALENDAR: Final = ("previous", "vorig", "anterior")
"""Beginnings of words that always mean the calendar's unit."""
_VAGUE: Final = frozenset({"a", "an", "one"})
"""`in a day` tells how long something takes as often as when it comes."""
_MOST_AHEAD: Final = 999
_SHORT: Final = 7
"""Days of a span beside which a month or a year is a day's: two months after 5 March, the month after March."""
_WIDE: Final = "ago"
"""English weeks, months and years ago are meant roughly; elsewhere that day is, as the golden set has it."""
_HALVES: Final = {"day": (12, 0), "week": (3, 3), "fortnight": (7, 3), "month": (15, 7), "quarter": (45, 15)}
"""Half a unit in days, and how many days to either side `three and a half` of it are meant."""


def rolling(reader: Reader, place: int) -> Read | None:
    """`the last 7 days`, `past week`, `les 7 derniers jours`, `within the last month`, `the next two weeks`."""
    first = reader.at(place)
    is_past, is_next = "rolling" in first.meanings, first.number("relative") == 1
    shift, count, unit, after = -1, None, None, place
    if first.number("relative") == -1 or is_past or is_next:
        shift = 1 if is_next else -1
        count, after = _some_or_count(reader, place + 1), reader.past_of(place + 2) + 1
        unit = reader.at(after - 1).name("unit")
        if unit is None and not is_next and (is_past or _is_rolling_after(reader, place)):
            count, unit, after = 1, reader.at(place + 1).name("unit"), place + 2
    elif reader.at(place + 1).number("relative") in (-1, 1) and not reader.is_english(place + 1):
        count, unit, after = first.number("number"), reader.at(place + 2).name("unit"), place + 3
        shift = reader.at(place + 1).number("relative") or -1
    if count is None or unit is None or unit == "weekend":
        return None
    if is_past and after == place + 2 and reader.means(after, "weekday"):
        return None
    if unit in _CLOCK:
        hours = count if unit == "hour" else -(-count // 60)
        return Read(None, after, hours=hours) if shift < 0 else None
    then = spans.back(reader.today, -shift * count, unit)
    return Read((min(then, reader.today), max(then, reader.today)), after)


def _some_or_count(reader: Reader, place: int) -> int | None:
    some = _SOME.get(reader.at(place).name("few") or "")
    return reader.count_at(place) if some is None else some[1]


def _is_rolling_after(reader: Reader, place: int) -> bool:
    """Whether `last week` is said as a stretch that ends now: `over the last week`."""
    if reader.at(place).text.casefold().startswith(_CALENDAR):
        return False
    before = place - 1
    while before >= max(place - 3, 0) and "of" in reader.at(before).meanings:
        before -= 1
    return before < place - 1 and reader.at(before).text.casefold() in _ROLLING_AFTER


def ago(reader: Reader, place: int) -> Read | None:
    """`3 days ago`, `a few weeks ago`, `half a year ago`, `hace 3 días`, `il y a 3 jours`, `vor 3 Tagen`."""
    is_before = "ago_before" in reader.at(place).meanings
    at = place + 1 if is_before else place
    some = _SOME.get(reader.at(at).name("few") or "")
    is_half = "half" in reader.at(at).meanings
    count = None if some or is_half else reader.count_at(at)
    if not (some or is_half or count):
        return None
    counted = _counted_unit(reader, at, is_half=is_half)
    if counted is None:
        return None
    unit, has_half, after = counted
    said = "" if is_before else reader.at(after).text.casefold()
    if not is_before and "ago_after" not in reader.at(after).meanings:
        return None
    after += "ago_after" in reader.at(after).meanings
    if unit in _CLOCK:
        return Read(spans.day(reader.today, -((count or 1) // 24) if unit == "hour" else 0), after)
    if unit == "weekend":
        return Read(spans.weekend(reader.today, -(count or 1)), after)
    if some:
        return Read(spans.some_ago(reader.today, *some, unit), after)
    if is_half:
        then = spans.added_months(reader.today, -6) if unit == "year" else spans.back(reader.today, 1, unit)
        return Read(spans.month(then.year, then.month), after)
    if has_half:
        return Read(_and_a_half_ago(reader.today, count or 0, unit), after)
    if said == _WIDE:
        return Read(spans.ago(reader.today, count or 0, unit), after)
    then = spans.back(reader.today, count or 0, unit)
    return Read((then, then), after)


def _counted_unit(reader: Reader, at: int, *, is_half: bool) -> tuple[str, bool, int] | None:
    """The unit after a count, whether half of one is added, and the place after: `three and a half weeks`."""
    unit_at = reader.past_of(at + 1) if not is_half else at + 1 + (reader.count_at(at + 1) == 1)
    has_half = reader.means(unit_at, "and_half") or reader.means(at, "with_half")
    unit_at += reader.means(unit_at, "and_half")
    unit = reader.at(unit_at).name("unit")
    if unit is None:
        return None
    trailing = reader.means(unit_at + 1, "and_half")
    return unit, has_half or trailing, unit_at + 1 + trailing


def _and_a_half_ago(today: date, count: int, unit: str) -> Span:
    then = spans.back(today, count, unit)
    if unit not in _HALVES:
        then = spans.added_months(then, -6)
        return spans.month(then.year, then.month)
    half, slack = _HALVES[unit] if unit != "day" else (0, 0)
    then -= timedelta(days=half)
    return then - timedelta(days=slack), then + timedelta(days=slack)


def ahead(reader: Reader, place: int) -> Read | None:
    """`in 3 days`, `dentro de dos semanas`, `3 weeks from now`, `daqui a dois dias`: that day."""
    is_before = "ahead_before" in reader.at(place).meanings
    at = place + is_before
    count = _some_or_count(reader, at)
    if is_before and reader.at(at).text.casefold() in _VAGUE:
        return None
    unit = reader.at(reader.past_of(at + 1)).name("unit")
    if not count or count > _MOST_AHEAD or unit is None or unit in (*_CLOCK, "weekend"):
        return None
    after = reader.past_of(at + 1) + 1
    is_after = "ahead_after" in reader.at(after).meanings
    if not (is_before or is_after):
        return None
    then = spans.back(reader.today, -count, unit)
    return Read((then, then), after + is_after, UNSURE)


def beside(reader: Reader, place: int) -> Read | None:
    """`two days before yesterday`, `the day after Christmas 2024`, `the Friday before Easter 2025`."""
    count = reader.count_at(place)
    at = place if count is None else place + 1
    unit = "weekday" if count is None and reader.means(at, "weekday") else reader.at(at).name("unit")
    shift = 1 if reader.means(at + 1, "after") else -1 if reader.means(at + 1, "before") else 0
    is_from = shift == 0 and reader.at(at + 1).text.casefold() == "from" and count is not None
    if unit is None or unit in (*_CLOCK, "weekend") or not (shift or is_from):
        return None
    start = reader.past_of(at + 2)
    read = reader.atom(start, is_bound=True)
    if read is None or read.span is None:
        return None
    first, last = read.span
    if is_from and (number := reader.at(start).number("weekday")) is not None:
        first = last = spans.coming(reader.today, number)
    if (last - first).days == 2:
        first = last = first + timedelta(days=1)  # Christmas, which is told from its middle day
    edge = last if shift >= 0 else first
    if unit == "weekday" and (weekday := reader.at(at).number("weekday")) is not None:
        until = (edge.weekday() - weekday - 1) % 7 + 1
        return Read(
            spans.day(edge if shift < 0 else spans.coming(edge, weekday), -until if shift < 0 else 0), read.after
        )
    is_whole = unit in ("month", "quarter", "year") and (last - first).days > _SHORT
    if is_whole or (count is None and unit != "day"):
        return Read(spans.relative(edge, unit, (shift or 1) * (count or 1)), read.after)
    then = spans.back(edge, -(shift or 1) * (count or 1), unit)
    return Read((then, then), read.after)
