"""Rules for dates by name: March 2025, 5 March, in 2019, the nineties, Christmas 2024.  Called through reader.py."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import LIKELY, UNSURE, Read, Reader
from hindsight_aws.recall.when.spans import Span

_LAST_DAY: Final = 31


def month_and_day(reader: Reader, place: int) -> Read | None:
    """`March 5, 2025`, `March 5th`, `5 de marzo de 2025`, `20 Feb`; a day that does not exist is no window."""
    month, day, after = _month(reader, place), _day_number(reader, place + 1), place + 2
    if month is None or day is None:
        day, at = _day_number(reader, place), reader.past_of(place + 1)
        month, after = _month(reader, at), at + 1
    if month is None or day is None or _is_verb(reader, place, after):
        return None
    year_at = reader.past_of(after)
    year = reader.at(year_at).number("year")
    try:
        span = reader.latest_day(month, day) if year is None else _day(year, month, day)
    except ValueError:
        span = None
    return Read(span, after if year is None else year_at + 1, has_year=year is not None)


def month_of_year(reader: Reader, place: int) -> Read | None:
    """`March 2025`, `marzo de 2025`, `Sept 2024`."""
    month = _month(reader, place)
    year_at = reader.past_of(place + 1)
    year = reader.at(year_at).number("year")
    if month is None or year is None:
        return None
    return Read(spans.month(year, month), year_at + 1)


def in_month(reader: Reader, place: int) -> Read | None:
    """`in March`, `en el mes de mayo`: the latest that has begun."""
    if "in" not in reader.at(place).meanings:
        return None
    at = reader.past_of(place + 1)
    at = reader.past_of(at + 1) if reader.at(at).name("unit") == "month" else at
    dated = month_and_day(reader, at) or month_of_year(reader, at)
    if dated is not None:
        return dated
    month = reader.month_at(at)
    return None if month is None else Read(reader.latest_month(month), at + 1, LIKELY, has_year=False)


def in_year(reader: Reader, place: int) -> Read | None:
    """`in 2019`, `year 2025`, `im Jahr 2019`, `nel 2020`."""
    is_said = "in_year" in reader.at(place).meanings
    at = reader.past_of(place + 1) if is_said else place
    if "year_word" in reader.at(at).meanings:
        at, is_said = at + 1, True
    year = reader.year_at(at)
    return Read(spans.year(year), at + 1) if is_said and year is not None else None


def decade(reader: Reader, place: int) -> Read | None:
    """`the 1990s`, `the 80s`, `in the nineties`."""
    first = reader.at(place).number("decade")
    return None if first is None else Read(spans.decade(first), place + 1)


def holiday(reader: Reader, place: int) -> Read | None:
    """`Christmas 2024`: only with its year."""
    name = reader.at(place).name("holiday")
    year = reader.at(reader.past_of(place + 1)).number("year")
    if name is None or year is None:
        return None
    return Read(_holiday(name, year), reader.past_of(place + 1) + 1)


def nth(reader: Reader, place: int) -> Read | None:
    """`on the 21st`: the latest that is not to come."""
    number = reader.at(place).number("nth")
    if number is None or not 1 <= number <= _LAST_DAY or "of" not in reader.at(place - 1).meanings:
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
    month = _month(reader, at)
    return None if month is None else Read(reader.latest_month(month), at + 1, LIKELY, has_year=False)


def bare_year(reader: Reader, place: int) -> Read | None:
    """A year alone, where a bound precedes: `since 2019`."""
    year = reader.year_at(reader.past_of(place))
    return None if year is None else Read(spans.year(year), reader.past_of(place) + 1)


def _month(reader: Reader, place: int) -> int | None:
    short = reader.at(place).number("short_month")
    return reader.month_at(place) if short is None else short


def _day_number(reader: Reader, place: int) -> int | None:
    token = reader.at(place)
    number = token.number("nth") or token.number("number")
    said = token.text[:1].isdigit() and "year" not in token.meanings
    return number if said and number is not None and 1 <= number <= _LAST_DAY else None


def _is_verb(reader: Reader, place: int, after: int) -> bool:
    """Whether "may 5 people" is meant: a small may before a plain number and no year."""
    token, following = reader.at(place), reader.at(place + 1)
    has_year = reader.at(after).number("year") is not None
    return token.text == "may" and "nth" not in following.meanings and not has_year


def _day(year: int, month: int, number: int) -> Span:
    then = date(year, month, number)
    return then, then


def _holiday(name: str, year: int) -> Span:
    if name == "christmas":
        return date(year, 12, 24), date(year, 12, 26)
    if name == "thanksgiving":
        first = date(year, 11, 1)
        return spans.day(first + timedelta(days=(3 - first.weekday()) % 7), 21)
    if name == "easter":
        return spans.day(_easter(year), 0)
    fixed = {"new_year": (1, 1), "new_years_eve": (12, 31), "halloween": (10, 31), "valentine": (2, 14)}[name]
    return _day(year, *fixed)


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, ch. 8)."""
    golden, (century, rest) = year % 19, divmod(year, 100)
    leap, skipped = divmod(century, 4)
    moon = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * skipped + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * week) // 451
    month, day = divmod(moon + week - 7 * shift + 114, 31)
    return date(year, month, day + 1)
