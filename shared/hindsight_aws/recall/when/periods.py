"""Rules for parts of the calendar: Q1 2025, first half of 2025, week 10 of 2025, last Friday of January.

Called through reader.py.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import LIKELY, Read, Reader
from hindsight_aws.recall.when.spans import Span
from hindsight_aws.recall.when.tokens import Token

_MOST: Final = 5
_WHOSE: Final = frozenset({"of", "de", "del", "du", "des", "do", "dello", "della"})
"""After a quarter these tell whose it is, and of a game it is no time."""
_SHORTEST: Final = 27
"""Days between the first and last of the shortest span that has first and last weeks: February."""


def quarter(reader: Reader, place: int) -> Read | None:
    """`Q1 2025`, `FY25 Q1`, `first quarter of 2025`, `1. Quartal`, `the third quarter`."""
    year, at = None, place
    if (before := reader.at(place).number("year")) is not None and reader.means(place + 1, "quarter", "half"):
        year, at = (before, place + 1), place + 1
    found = _numbered(reader, at, "quarter")
    if found is None or not 1 <= found[0] <= 4:
        return None
    number, after = found
    if year is None:
        year = reader.year_said(after)
        after = after if year is None else year[1]
    if year is not None:
        return Read(spans.quarter(year[0], number) if reader.is_near(year[0]) else None, after)
    if reader.at(at).text[0] == "T" or reader.at(after).text.casefold() in _WHOSE:
        return None
    latest = spans.quarter(reader.today.year, number)
    latest = latest if latest[0] <= reader.today else spans.quarter(reader.today.year - 1, number)
    return Read(latest, after, LIKELY, has_year=False)


def half(reader: Reader, place: int) -> Read | None:
    """`H1 2025`, `first half of 2025`, `primer semestre de 2025`, `die zweite Hälfte des letzten Jahres`, `2025 H2`."""
    if (before := reader.at(place).number("year")) is not None and (number := reader.at(place + 1).number("half")):
        return Read(spans.half(before, number), place + 2)
    found = _numbered(reader, place, "half")
    if found is not None:
        year = reader.year_said(found[1])
        return None if year is None or found[0] > 2 else Read(spans.half(year[0], found[0]), year[1])
    number, at = reader.ordinal_at(place), place + 1
    if number is None or number > 2 or not reader.means(at, "half_more"):
        return None
    whole = _whole(reader, reader.past(at + 1, "of", "in"))
    if whole is None or whole.span is None:
        return None
    first, last = whole.span
    if (last - first).days > 360:
        return Read(spans.half(first.year, number), whole.after)
    middle = first + timedelta(days=((last - first).days + 1) // 2 - 1)
    return Read((first, middle) if number == 1 else (middle + timedelta(days=1), last), whole.after)


def _numbered(reader: Reader, place: int, unit: str) -> tuple[int, int] | None:
    """The number of a quarter or a half: `Q1`, `H2`, `first quarter`, `2. Quartal`; and the place after."""
    number = reader.at(place).number(unit)
    if number is not None and reader.at(place).name("unit") is None and reader.at(place).text[-1:].isdigit():
        return number, place + 1
    number = reader.ordinal_at(place)
    return None if number is None or reader.at(place + 1).name("unit") != unit else (number, place + 2)


def week_number(reader: Reader, place: int) -> Read | None:
    """`KW 10 2025`, `W10 2025`, `week 10 of 2025`, `semaine 10 de 2025`; `KW 10` alone is the latest that has begun."""
    number, after = reader.at(place).number("week_number"), place + 1
    if number is None:
        if reader.at(place).name("unit") != "week":
            return None
        number, after = reader.at(place + 1).number("number"), place + 2
    year = reader.year_said(after)
    if number is None:
        return None
    if year is not None:
        return Read(_week(year[0], number), year[1])
    if reader.at(place).number("week_number") is None or reader.at(place).number("is_short"):
        return None
    latest = _week(reader.today.year, number)
    return Read(latest if latest[0] <= reader.today else _week(reader.today.year - 1, number), after, LIKELY)


def _week(year: int, number: int) -> Span:
    first = date.fromisocalendar(year, number, 1)
    return first, first + timedelta(days=6)


def nth_of(reader: Reader, place: int) -> Read | None:
    """`last Friday of January`, `the first week of March`, `the last three days of 2025`, `premier lundi de mars`."""
    which, at, many = _which(reader, place), place + 1, 1
    if which is None:
        unit_first = reader.means(place, "unit", "weekday") and reader.at(place + 1).number("relative") == -1
        if not unit_first:
            return None
        which, thing, at = -1, reader.at(place), place + 2
    else:
        count = reader.count_at(at)
        if count is not None and abs(which) == 1 and reader.at(at).text.casefold() not in ("a", "an"):
            many, at = count, at + 1
        thing, at = reader.at(at), at + 1
    number, unit = thing.number("weekday"), thing.name("unit")
    start = reader.past(at, "of", "in")
    if start == at or (number is None and unit not in ("day", "week", "weekend", "month")):
        return None
    whole = _whole(reader, start)
    if whole is None or whole.span is None:
        return None
    return Read(_piece(whole.span, thing, which, many), whole.after, whole.confidence, whole.has_year)


def _whole(reader: Reader, place: int) -> Read | None:
    """What has parts: a month or more; `the month` alone is this one."""
    read = reader.atom(place, is_bound=True)
    unit = reader.at(place).name("unit")
    if read is None and unit in ("month", "quarter", "year"):
        read = Read(spans.relative(reader.today, unit, 0), place + 1)
    if read is None or read.span is None or (read.span[1] - read.span[0]).days < _SHORTEST:
        return None
    return read


def _which(reader: Reader, place: int) -> int | None:
    """First to fifth as a number, last as -1."""
    if reader.at(place).number("relative") == -1:
        return -1
    number = reader.ordinal_at(place)
    return number if number is not None and 1 <= number <= _MOST else None


def _piece(whole: Span, thing: Token, which: int, many: int) -> Span:
    """The first, second … or last days, weeks or weekday of a span; raises ValueError where it has none."""
    number, unit = thing.number("weekday"), thing.name("unit")
    if number is not None:
        return spans.day(spans.nth_weekday(whole, number, which), 0)
    if unit == "weekend":
        return spans.day(spans.nth_weekday(whole, 5, which), 0)[0], spans.day(spans.nth_weekday(whole, 5, which), 1)[1]
    if unit == "month":
        if which < 0:
            return spans.added_months(whole[1].replace(day=1), 1 - many), whole[1]
        first = spans.added_months(whole[0], which - 1)
        last = spans.added_months(first, many - 1)
        return first, spans.month(last.year, last.month)[1]
    length = many * (7 if unit == "week" else 1)
    if which < 0:
        return whole[1] - timedelta(days=length - 1), whole[1]
    first = whole[0] + timedelta(days=(which - 1) * length)
    return first, min(first + timedelta(days=length - 1), whole[1])


def week_of(reader: Reader, place: int) -> Read | None:
    """`the week of March 2`, `la semana del 2 de marzo`, `die Woche vom 2. März`: the week that has the day."""
    unit = reader.at(place).name("unit")
    at = reader.past(place + 1, "of", "from")
    if unit not in ("week", "weekend") or at == place + 1:
        return None
    read = reader.atom(at)
    if (
        read is None
        or read.span is None
        or (read.span[1] - read.span[0]).days > 2
        or not (read.after > at + 1 or reader.means(at, "dated"))
    ):
        return None
    first, last = spans.week_of(read.span[0], 0)
    return Read((first if unit == "week" else last - timedelta(days=1), last), read.after)
