"""Rules for time told from today: yesterday, last week, 3 days ago, last summer.  Called through reader.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import LIKELY, UNSURE, Read, Reader

_SOME: Final = {"couple": (1, 3), "few": (2, 5)}
_ROLLING_AFTER: Final = frozenset({"in", "over", "within", "during", "en", "dans", "nell'", "em", "im"})
_WIDE: Final = "ago"
"""English weeks, months and years ago are meant roughly; elsewhere that day is, as the golden set has it."""


def dated(reader: Reader, place: int) -> Read | None:
    """A date by its form: `2025-03-05`, `03/04/2025`, `2025-W10`."""
    token = reader.at(place)
    return Read(token.span, place + 1) if "dated" in token.meanings else None


def day(reader: Reader, place: int) -> Read | None:
    """`yesterday`, `hoy`, `last night`, `this morning`."""
    token = reader.at(place)
    if (offset := token.number("day")) is not None:
        return Read(spans.day(reader.today, offset), place + 1)
    if (offset := token.number("night")) is not None:
        return Read((reader.today + timedelta(days=offset), reader.today), place + 1, is_night=True)
    if (whole := token.name("whole")) is not None:
        unit, shift = whole.split(":")
        return Read(spans.relative(reader.today, unit, int(shift)), place + 1)
    return None


def weekday(reader: Reader, place: int) -> Read | None:
    """`last Monday`, `lunes pasado`, `Monday last week`, `on Monday`, `Montag`."""
    relative = reader.at(place).number("relative")
    if relative is not None and (number := reader.at(place + 1).number("weekday")) is not None:
        return Read(spans.weekday(reader.today, number, relative), place + 2)
    number = reader.at(place).number("weekday")
    if number is None:
        return None
    following = reader.at(place + 1).number("relative")
    if following is not None and reader.at(place + 2).name("unit") is None:
        return Read(spans.weekday(reader.today, number, following), place + 2)
    week = relative_unit(reader, reader.past_of(place + 1))
    if week is not None and week.span is not None and (week.span[1] - week.span[0]).days == 6:
        return Read(spans.day(week.span[0], number), week.after)
    return Read(spans.weekday(reader.today, number, -1), place + 1, UNSURE)


def part(reader: Reader, place: int) -> Read | None:
    """`early 2024`, `end of last month`, `mid-March`."""
    which = reader.at(place).name("part")
    if which is None:
        return None
    whole = reader.atom(reader.past_of(place + 1), is_bound=True)
    if whole is None or whole.span is None or whole.span[0] == whole.span[1]:
        return None
    return replace(whole, span=spans.part(whole.span, which), confidence=LIKELY)


def rolling(reader: Reader, place: int) -> Read | None:
    """`the last 7 days`, `past week`, `les 7 derniers jours`, `within the last month`."""
    first = reader.at(place)
    is_past = "rolling" in first.meanings
    count, unit, after = None, None, place
    if first.number("relative") == -1 or is_past:
        count, unit, after = reader.count_at(place + 1), reader.at(place + 2).name("unit"), place + 3
        if unit is None and (is_past or _is_rolling_after(reader, place)):
            count, unit, after = 1, reader.at(place + 1).name("unit"), place + 2
    elif first.number("number") is not None and reader.at(place + 1).number("relative") == -1:
        count, unit, after = first.number("number"), reader.at(place + 2).name("unit"), place + 3
    if count is None or unit is None or unit == "weekend":
        return None
    if unit == "hour":
        return Read(None, after, hours=count)
    return Read((spans.back(reader.today, count, unit), reader.today), after)


def _is_rolling_after(reader: Reader, place: int) -> bool:
    """Whether `last week` is said as a stretch that ends now: `over the last week`."""
    before = place - 1
    while before >= 0 and "of" in reader.at(before).meanings:
        before -= 1
    return before < place - 1 and reader.at(before).text.casefold() in _ROLLING_AFTER


def relative_unit(reader: Reader, place: int) -> Read | None:
    """`last week`, `la semana pasada`, `next year`."""
    first, second = reader.at(place), reader.at(place + 1)
    relative, unit = first.number("relative"), second.name("unit")
    if relative is None or unit is None:
        relative, unit = second.number("relative"), first.name("unit")
    if relative is None or unit in (None, "hour", "day"):
        return None
    return Read(spans.relative(reader.today, unit or "", relative), place + 2)


def ago(reader: Reader, place: int) -> Read | None:
    """`3 days ago`, `a few weeks ago`, `half a year ago`, `hace 3 días`, `il y a 3 jours`, `vor 3 Tagen`."""
    is_before = "ago_before" in reader.at(place).meanings
    at = place + 1 if is_before else place
    some = _SOME.get(reader.at(at).name("few") or "")
    is_half = "half" in reader.at(at).meanings
    count = None if some or is_half else reader.count_at(at)
    if not (some or is_half or count):
        return None
    unit_at = reader.past_of(at + 1) if not is_half else at + 1
    unit = reader.at(unit_at).name("unit")
    if unit is None:
        return None
    after = unit_at + 1
    said = "" if is_before else reader.at(after).text.casefold()
    if not is_before:
        if "ago_after" not in reader.at(after).meanings:
            return None
        after += 1
    elif "ago_after" in reader.at(after).meanings:
        after += 1
    if unit == "hour":
        return Read(spans.day(reader.today, -((count or 1) // 24)), after)
    if some:
        return Read(spans.some_ago(reader.today, *some, unit), after)
    if is_half:
        then = spans.added_months(reader.today, -6) if unit == "year" else spans.back(reader.today, 1, unit)
        return Read(spans.month(then.year, then.month), after)
    if said == _WIDE:
        return Read(spans.ago(reader.today, count or 0, unit), after)
    then = spans.back(reader.today, count or 0, unit)
    return Read((then, then), after)


def quarter(reader: Reader, place: int) -> Read | None:
    """`Q1 2025`, `first quarter of 2025`, `the third quarter`."""
    number, after = reader.at(place).number("quarter"), place + 1
    if number is None:
        number = reader.at(place).number("ordinal")
        if number is None or reader.at(place + 1).name("unit") != "quarter":
            return None
        after = place + 2
    year_at = reader.past_of(after)
    if (year := reader.year_at(year_at)) is not None:
        return Read(spans.quarter(year, number), year_at + 1)
    if (relative := relative_unit(reader, year_at)) is not None and relative.span is not None:
        return Read(spans.quarter(relative.span[0].year, number), relative.after)
    latest = spans.quarter(reader.today.year, number)
    return Read(latest if latest[0] <= reader.today else spans.quarter(reader.today.year - 1, number), after, LIKELY)


def season(reader: Reader, place: int) -> Read | None:
    """`summer 2024`, `last summer`, `el verano pasado`; a bare season is none."""
    name = reader.at(place).name("season")
    relative, after = reader.at(place + 1).number("relative"), place + 2
    if name is None:
        name, relative = reader.at(place + 1).name("season"), reader.at(place).number("relative")
        if name is None or relative is None:
            return None
    year_at = reader.past_of(place + 1)
    if (year := reader.year_at(year_at)) is not None and reader.at(place).name("season") is not None:
        return Read(spans.season(year, name), year_at + 1)
    if relative is None:
        return None
    this = spans.season(reader.today.year, name)
    if relative == -1:
        year = reader.today.year if this[1] < reader.today else reader.today.year - 1
        return Read(spans.season(year, name), after)
    year = reader.today.year + (1 if relative and this[0] <= reader.today else 0)
    return Read(spans.season(year, name), after)
