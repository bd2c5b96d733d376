"""Rules for dates by name: March 2025, 5 March, in 2019, the nineties, Christmas 2024.  Called through reader.py."""

from __future__ import annotations

from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.named_days import named_day
from hindsight_aws.recall.when.reader import LIKELY, UNSURE, Read, Reader

_LAST_DAY: Final = 31
_MONTHS_SEARCHED: Final = 60
_ORDINALS_WITHOUT_OF: Final = frozenset({"primo", "premier", "primero", "erster", "ersten", "erste"})


def dated(reader: Reader, place: int) -> Read | None:
    """A date by its form: `2025-03-05`, `03/04/2025`, `2025-W10`."""
    token = reader.at(place)
    if "dated" not in token.meanings:
        return None
    return Read(token.span if token.span and reader.is_near(token.span[0].year) else None, place + 1)


def day_of_week_and_date(reader: Reader, place: int) -> Read | None:
    """`Tuesday the 3rd of March`, `martes 3 de marzo`: the date alone; `Friday the 13th`: the latest that is one."""
    weekday = reader.at(place).number("weekday")
    if weekday is None:
        return None
    at = reader.past(place + 1, "of", "in")
    if (read := month_and_day(reader, at)) is not None:
        return read
    number = reader.at(at).number("nth") or reader.at(at).number("dot")
    if number is None and not reader.at(place).text.casefold().endswith("day"):
        number = reader.day_at(at)
    if number is None or number > _LAST_DAY or reader.means(at + 1, "unit", "counted", "thing", "number"):
        return None
    first = reader.today.replace(day=1)
    for back in range(_MONTHS_SEARCHED):
        month = spans.added_months(first, -back)
        if number <= spans.month(month.year, month.month)[1].day:
            then = month.replace(day=number)
            if then <= reader.today and then.weekday() == weekday:
                return Read((then, then), at + 1)
    return None


def month_and_day(reader: Reader, place: int) -> Read | None:
    """`March 5, 2025`, `March 5th`, `5 de marzo de 2025`, `20 Feb`; a day that does not exist is no window."""
    found = _month_then_day(reader, place) or _day_then_month(reader, place)
    if found is None:
        return None
    month, day, after = found
    year = reader.year_said(after)
    if year is None and (_is_verb(reader, place, after) or reader.means(after, "counted")):
        return None
    try:
        span = reader.latest_day(month, day) if year is None else spans.of_day(year[0], month, day)
    except ValueError:
        span = None
    return Read(span, after if year is None else year[1], has_year=year is not None)


def _is_verb(reader: Reader, place: int, after: int) -> bool:
    """Whether "may 5 people" or "model 1 may run" is meant: a small may with a plain number and no year."""
    goes_on = after < len(reader.tokens) and not reader.at(after).meanings
    if reader.at(place).text == "may":
        return not (reader.means(place + 1, "nth") or (reader.means(place + 1, "of") and not goes_on))
    return goes_on and reader.at(after - 1).text == "may" and not reader.means(place, "nth")


def _month_then_day(reader: Reader, place: int) -> tuple[int, int, int] | None:
    month = reader.any_month_at(place)
    if month is None:
        return None
    at = reader.past_of(place + 1)
    day = reader.day_at(at) if at == place + 1 else reader.at(at).number("nth")
    if day is None and at > place + 1:
        day = reader.at(at).number("ordinal")
    return None if day is None else (month, day, at + 1)


def _day_then_month(reader: Reader, place: int) -> tuple[int, int, int] | None:
    day, at = reader.day_at(place), reader.past(place + 1, "of")
    if day is None:
        day = reader.at(place).number("ordinal")
        if day is None or (at == place + 1 and reader.at(place).text.casefold() not in _ORDINALS_WITHOUT_OF):
            return None
    month = reader.any_month_at(at)
    is_apart = at == place + 1 and reader.at(at).start - reader.at(place).end > 1
    return None if month is None or is_apart else (month, day, at + 1)


def month_of_year(reader: Reader, place: int) -> Read | None:
    """`March 2025`, `marzo de 2025`, `March last year`, `marzo del año pasado`."""
    month = reader.any_month_at(place)
    if month is None:
        return None
    year = reader.year_said(place + 1)
    return None if year is None else Read(spans.month(year[0], month), year[1])


def year_then_date(reader: Reader, place: int) -> Read | None:
    """`last year in March`, `no ano passado em março`, `last year's summer`, `this year's Q1`."""
    if not reader.means(place, "relative", "unit", "whole", "number", "ago_before", "year", "to"):
        return None
    if reader.means(place, "year") and not reader.means(place + 1, "month", "in"):
        return None
    year = reader.year_said(place)
    if year is None:
        return None
    at = reader.past(year[1], "in", "of")
    if (part := _part_of(reader, at, year[0])) is not None:
        return part
    if at == year[1] and not reader.means(at, "month", "short_month"):
        return None
    found = _month_then_day(reader, at) or _day_then_month(reader, at)
    if found is not None:
        return Read(spans.of_day(year[0], found[0], found[1]), found[2])
    month = reader.any_month_at(at)
    if month is None or reader.year_said(at + 1) is not None:
        return None
    return Read(spans.month(year[0], month), at + 1)


def _part_of(reader: Reader, place: int, year: int) -> Read | None:
    """The season, quarter or named day of a year that precedes it."""
    token = reader.at(place)
    if (season := token.name("season")) is not None:
        return Read(spans.season(year, season), place + 1)
    if (number := token.number("quarter")) is not None:
        return Read(spans.quarter(year, number), place + 1)
    name = token.name("holiday")
    return None if name is None else Read(named_day(name, year), place + 1)


def relative_month(reader: Reader, place: int) -> Read | None:
    """`last March`, `marzo pasado`, `next May`: the last that is over, the one of this year, the next to begin."""
    for word, name in ((place, place + 1), (place + 1, place)):
        relative, month = reader.at(word).number("relative"), reader.any_month_at(name)
        if relative is None or month is None or reader.at(place + 2).name("unit") == "year":
            continue
        if word > name and reader.is_english(word):
            continue
        today = reader.today
        year = today.year
        if relative < 0:
            year -= month >= today.month
        elif relative > 0:
            year += month <= today.month
        return Read(spans.month(year, month), place + 2)
    return None


def in_month(reader: Reader, place: int) -> Read | None:
    """`in March`, `en el mes de mayo`: the latest that has begun."""
    if "in" not in reader.at(place).meanings:
        return None
    at = reader.past_of(place + 1)
    at = reader.past_of(at + 1) if reader.at(at).name("unit") == "month" else at
    for rule in (month_and_day, month_of_year, relative_month):
        if (read := rule(reader, at)) is not None:
            return read
    month = reader.month_at(at)
    return None if month is None else Read(reader.latest_month(month), at + 1, LIKELY, has_year=False)


def in_year(reader: Reader, place: int) -> Read | None:
    """`in 2019`, `year 2025`, `im Jahr 2019`, `nel 2020`, `FY2025`."""
    is_said = "in_year" in reader.at(place).meanings
    at = reader.past_of(place + 1) if is_said else place
    if "year_word" in reader.at(at).meanings:
        at, is_said = at + 1, True
    is_said = is_said or reader.means(at, "fiscal")
    year = reader.year_at(at)
    return Read(spans.year(year), at + 1) if is_said and year is not None else None


def decade(reader: Reader, place: int) -> Read | None:
    """`the 1990s`, `the 80s`, `in the nineties`, `die 90er Jahre`, `los años 90`, `gli anni novanta`."""
    token = reader.at(place)
    if (first := token.number("decade")) is not None:
        is_the = reader.means(place - 1, "of") and reader.at(place - 1).text.casefold() != "of"
        if token.number("is_short") and not (is_the or reader.means(place - 1, "part")):
            return None
        if reader.means(place + 1, "counted", "thing"):
            return None
        after = place + 1 + (reader.at(place + 1).name("unit") == "year")
        span = spans.year(first)[0], spans.year(first + 99)[1]
        if first % 100 or first >= reader.today.year // 100 * 100:
            span = spans.decade(first)
        return Read(span if reader.is_near(span[1].year) else None, after)
    if (first := token.number("decade_word")) is not None:
        at = place - 1 - reader.means(place - 1, "part")
        return None if reader.means(at, "possessor") else Read(spans.decade(first), place + 1)
    if (first := token.number("german_decade")) is not None:
        is_years = reader.at(place + 1).name("unit") == "year"
        return Read(spans.decade(first), place + 1 + is_years) if is_years or token.text.endswith("n") else None
    return _decade_after_its_word(reader, place)


def _decade_after_its_word(reader: Reader, place: int) -> Read | None:
    unit = reader.at(place).name("unit")
    tens = reader.at(place).number("tens")
    if tens is not None and reader.at(place - 1).text.casefold() in ("los", "os"):
        return Read(spans.decade(1900 + tens), place + 1)
    if unit not in ("year", "decade") or (unit == "year" and not reader.at(place).text.endswith(("s", "i"))):
        return None
    at = reader.past_of(place + 1)
    at += unit == "decade" and reader.at(at).name("unit") == "year"
    token = reader.at(at)
    first = token.number("year") if "year" in token.meanings else token.number("tens")
    if first is None and token.text.isdigit() and len(token.text) == 2:
        first = token.number("number")
    if first is None or first % 10 or reader.means(at + 1, "unit", "counted"):
        return None
    first += 0 if first > 99 else 1900 if first >= 20 else 2000
    return Read(spans.decade(first), at + 1) if reader.is_near(first) else None


def holiday(reader: Reader, place: int) -> Read | None:
    """`Christmas 2024`, `Easter last year`: only with its year."""
    name = reader.at(place).name("holiday")
    if name is None:
        return None
    year = reader.year_said(place + 1)
    return None if year is None else Read(named_day(name, year[0]), year[1])


def nth(reader: Reader, place: int) -> Read | None:
    """`on the 21st`: the latest that is not to come; no floor, no century."""
    number = reader.at(place).number("nth")
    if number is None or not 1 <= number <= _LAST_DAY or "of" not in reader.at(place - 1).meanings:
        return None
    following = reader.at(place + 1)
    is_placed = reader.means(place - 2, "in", "since", "before", "after", "until", "between", "from", "to", "and")
    if following.name("unit") or reader.means(place + 1, "thing", "counted"):
        return Read(None, place + 1)
    if not (is_placed or place + 1 >= len(reader.tokens) or following.meanings):
        return None
    first = reader.today.replace(day=1)
    for back in range(3):
        try:
            then = spans.added_months(first, -back).replace(day=number)
        except ValueError:
            continue
        if then <= reader.today:
            return Read((then, then), place + 1, UNSURE)
    return None


def bare_month(reader: Reader, place: int) -> Read | None:
    """A month alone, where a bound precedes: `since March`."""
    at = reader.past_of(place)
    month = reader.any_month_at(at)
    return None if month is None else Read(reader.latest_month(month), at + 1, LIKELY, has_year=False)


def bare_year(reader: Reader, place: int) -> Read | None:
    """A year alone, where a bound precedes: `since 2019`."""
    at = reader.past(place, "of", "year_word")
    year = reader.year_at(at)
    return None if year is None else Read(spans.year(year), at + 1)
