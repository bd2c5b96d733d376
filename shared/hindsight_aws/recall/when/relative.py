"""Rules for time told from today: yesterday, last week, on Monday, early last year.  Called through reader.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import LIKELY, UNSURE, Read, Reader
from hindsight_aws.recall.when.spans import Span

_SATURDAY: Final = 5
_WEEK: Final = 6
"""Days between the first and the last of a week."""
_PARTED: Final = ("week", "month", "quarter", "year")
_LEAST_PARTED: Final = 2
"""Days between the first and the last of a span that has thirds; a weekend and a night have none."""
_GERMAN: Final = frozenset("ist sind war wer wo wie gibt nicht ich wir haben hat und das der auf ein eine für".split())
"""With one of these `hier` is German and means here."""


def day(reader: Reader, place: int) -> Read | None:
    """`yesterday`, `hoy`, `last night`, `this morning`."""
    token = reader.at(place)
    if (offset := token.number("day")) is not None:
        if token.text.casefold() == "hier" and any(word.text.casefold() in _GERMAN for word in reader.tokens[:20]):
            return None
        return Read(spans.day(reader.today, offset), _past_morning(reader, place + 1))
    if (offset := token.number("night")) is not None:
        night = reader.today + timedelta(days=offset)
        return Read((night, night + timedelta(days=1)), place + 1, is_night=True)
    if (whole := token.name("whole")) is not None:
        unit, shift = whole.split(":")
        return Read(spans.relative(reader.today, unit, int(shift)), place + 1)
    return None


def _past_morning(reader: Reader, place: int) -> int:
    """Past a `Morgen` that is the morning of the day before it: `Montag Morgen` is one day."""
    return place + (reader.at(place).text.casefold() == "morgen")


def weekday(reader: Reader, place: int) -> Read | None:
    """`last Monday`, `lunes pasado`, `Monday last week`, `on Monday`, `Montag`."""
    relative = reader.at(place).number("relative")
    if relative is not None and (number := reader.at(place + 1).number("weekday")) is not None:
        return Read(_day_of(reader, place, number, relative), place + 2)
    number = reader.at(place).number("weekday")
    if number is None:
        return None
    following = reader.at(place + 1).number("relative")
    if following is not None and reader.at(place + 2).name("unit") is None:
        return Read(_day_of(reader, place + 1, number, following), place + 2)
    week = relative_unit(reader, reader.past_of(place + 1))
    if week is not None and week.span is not None and _is_week(week.span):
        return Read(spans.day(week.span[0], number), week.after)
    return Read(spans.weekday(reader.today, number, -1), _past_morning(reader, place + 1), UNSURE)


def _day_of(reader: Reader, place: int, number: int, relative: int) -> Span:
    if reader.means(place, "coming"):
        return spans.day(spans.coming(reader.today, number), 0)
    if relative < -1:
        return spans.day(spans.weekday(reader.today, number, -1)[0], 7 * (relative + 1))
    return spans.weekday(reader.today, number, relative)


def day_in_week(reader: Reader, place: int) -> Read | None:
    """`last week on Tuesday`, `letzte Woche Montag`, `지난주 월요일`."""
    week = day(reader, place) if reader.means(place, "whole") else relative_unit(reader, place)
    if week is None or week.span is None or not _is_week(week.span):
        return None
    at = reader.past(week.after, "in", "of")
    number = reader.at(at).number("weekday")
    return None if number is None else Read(spans.day(week.span[0], number), at + 1)


def _is_week(span: Span) -> bool:
    return (span[1] - span[0]).days == _WEEK


def part(reader: Reader, place: int) -> Read | None:
    """`early 2024`, `end of last month`, `mid-March`, `early in 2024`, `the end of the month`."""
    which = reader.at(place).name("part")
    if which is None:
        return None
    at = reader.past_of(place + 1)
    whole = reader.atom(at, is_bound=True)
    unit = reader.at(at).name("unit")
    if whole is None and unit in _PARTED and reader.at(at).text.casefold() != "an":
        whole = Read(spans.relative(reader.today, unit, 0), at + 1)
    if whole is None or whole.span is None or whole.span[0] == whole.span[1]:
        return None
    if (whole.span[1] - whole.span[0]).days < _LEAST_PARTED:
        return whole
    return replace(whole, span=spans.part(whole.span, which), confidence=LIKELY)


def relative_unit(reader: Reader, place: int) -> Read | None:
    """`last week`, `la semana pasada`, `next year`, `the week before last`, `the coming weekend`."""
    found = reader.relative_at(place)
    if found is None or found[0] in ("hour", "minute", "day"):
        return None
    unit, shift, after = found
    is_coming = reader.means(place, "coming") or reader.means(place + 1, "coming")
    if is_coming and unit == "weekend" and reader.today.weekday() < _SATURDAY:
        shift = 0
    return Read(spans.relative(reader.today, unit, shift), after)


def season(reader: Reader, place: int) -> Read | None:
    """`summer 2024`, `last summer`, `summer of last year`, `el verano pasado`; a bare season is none."""
    name = reader.at(place).name("season")
    if name is not None and (year := reader.year_said(place + 1)) is not None:
        return Read(spans.season(year[0], name), year[1]) if reader.is_near(year[0]) else None
    relative = reader.at(place + 1).number("relative")
    if name is None:
        name, relative = reader.at(place + 1).name("season"), reader.at(place).number("relative")
    if name is None or relative is None:
        return None
    this = spans.season(reader.today.year, name)
    if relative < 0:
        year_of = reader.today.year if this[1] < reader.today else reader.today.year - 1
        return Read(spans.season(year_of + relative + 1, name), place + 2)
    year_of = reader.today.year + (1 if relative and this[0] <= reader.today else 0)
    return Read(spans.season(year_of, name), place + 2)
