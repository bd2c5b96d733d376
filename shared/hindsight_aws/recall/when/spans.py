"""Calendar arithmetic on whole days: a span is its first and last day.  Called by the grammars; pure.

Weeks begin on Monday.  Whatever lies outside the years 1 to 9999 raises ValueError or OverflowError, as datetime does.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from typing import Final

Span = tuple[date, date]
_YEARS_BACK, _YEARS_AHEAD = 120, 20
_SATURDAY: Final = 5
_MONTHS: Final = 12
_MONTHS_OF: Final = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_DAYS_OF: Final = {"week": 7, "weekend": 7, "fortnight": 14}


def day(today: date, offset: int) -> Span:
    """The day `offset` days from today."""
    then = today + timedelta(days=offset)
    return then, then


def of_day(year: int, number: int, day_of_month: int) -> Span:
    """One day by its date.  Raises ValueError where there is none."""
    then = date(year, number, day_of_month)
    return then, then


def month(year: int, number: int) -> Span:
    """A calendar month."""
    return date(year, number, 1), date(year, number, monthrange(year, number)[1])


def year(number: int) -> Span:
    """A calendar year."""
    return date(number, 1, 1), date(number, 12, 31)


def quarter(of_year: int, number: int) -> Span:
    """A quarter, 1 to 4, of a year."""
    return date(of_year, 3 * number - 2, 1), month(of_year, 3 * number)[1]


def half(of_year: int, number: int) -> Span:
    """A half, 1 or 2, of a year."""
    return date(of_year, 6 * number - 5, 1), month(of_year, 6 * number)[1]


def season(of_year: int, name: str) -> Span:
    """A northern meteorological season; winter begins in December of `of_year`."""
    first = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}[name]
    last = added_months(date(of_year, first, 1), 2)
    return date(of_year, first, 1), month(last.year, last.month)[1]


def decade(first_year: int) -> Span:
    """Ten years from `first_year` on."""
    return date(first_year, 1, 1), date(first_year + 9, 12, 31)


def week_of(today: date, offset: int) -> Span:
    """The week, Monday to Sunday, `offset` weeks from this one."""
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
    return monday, monday + timedelta(days=6)


def weekend(today: date, offset: int) -> Span:
    """The weekend of the week `offset` weeks from this one; asked on a weekend, the last one is the one before."""
    if offset == -1 and today.weekday() < _SATURDAY:
        saturday = today - timedelta(days=today.weekday() + 2)
    else:
        saturday = week_of(today, offset)[0] + timedelta(days=_SATURDAY)
    return saturday, saturday + timedelta(days=1)


def relative(today: date, unit: str, offset: int) -> Span:
    """The last (-1), this (0) or next (+1) calendar unit."""
    if unit == "day":
        return day(today, offset)
    if unit == "week":
        return week_of(today, offset)
    if unit == "weekend":
        return weekend(today, offset)
    if unit == "month":
        then = added_months(today, offset)
        return month(then.year, then.month)
    if unit == "quarter":
        then = added_months(today, 3 * offset)
        return quarter(then.year, (then.month + 2) // 3)
    if unit == "half":
        then = added_months(today, 6 * offset)
        return half(then.year, (then.month + 5) // 6)
    if unit == "fortnight":
        return (back(today, 1, unit), today) if offset < 0 else (today, back(today, -1, unit))
    if unit == "decade":
        return decade(today.year // 10 * 10 + 10 * offset)
    if unit == "century":
        return date((today.year // 100 + offset) * 100 + 1, 1, 1), date((today.year // 100 + offset + 1) * 100, 12, 31)
    return year(today.year + offset)


def weekday(today: date, number: int, offset: int) -> Span:
    """A day of the week: the last one before today (-1), the one of this week (0), the one of next week (+1)."""
    if offset < 0:
        return day(today, -((today.weekday() - number - 1) % 7 + 1))
    return day(week_of(today, offset)[0], number)


def nth_weekday(within: Span, number: int, which: int) -> date:
    """The first, second … (1, 2 …) or last (-1) such weekday of a span.  Raises ValueError where it has none."""
    first = within[0] + timedelta(days=(number - within[0].weekday()) % 7 + 7 * (which - 1))
    if which < 0:
        first = within[1] - timedelta(days=(within[1].weekday() - number) % 7)
    if not within[0] <= first <= within[1]:
        raise ValueError("no such weekday in the span")
    return first


def coming(today: date, number: int) -> date:
    """The next such weekday after today."""
    return today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)


def in_year(span: Span, of_year: int) -> Span:
    """The same days of another year; the end of a month stays its end.  Raises ValueError for 29 February elsewhere."""
    first, last = span
    is_end = last == month(last.year, last.month)[1] and first != last
    to_year = of_year + last.year - first.year
    return first.replace(year=of_year), month(to_year, last.month)[1] if is_end else last.replace(year=to_year)


def running(begins: Span, ends: Span, today: date) -> tuple[Span, Span]:
    """Two days without a year, or the same a year later where the first of those is not to come: 9 to 15 March."""
    if ends[0] != ends[1] or begins[0] > ends[1]:
        return begins, ends
    later = in_year(begins, begins[0].year + 1), in_year(ends, ends[0].year + 1)
    return later if later[0][0] <= today else (begins, ends)


def is_near(today: date, of_year: int) -> bool:
    """Whether a year is near enough to be meant."""
    return today.year - _YEARS_BACK <= of_year <= today.year + _YEARS_AHEAD


def back(today: date, count: int, unit: str) -> date:
    """The day `count` units before today; the last of the month where the month is too short."""
    if unit in _MONTHS_OF:
        return added_months(today, -count * _MONTHS_OF[unit])
    return today - timedelta(days=count * _DAYS_OF.get(unit, 1))


def ago(today: date, count: int, unit: str) -> Span:
    """`count` units ago, as wide as the word is vague.

    A day is that day, a week three days to either side, a month or a year the whole one.
    """
    then = back(today, count, unit)
    if unit in ("week", "fortnight"):
        return then - timedelta(days=3), then + timedelta(days=3)
    if unit == "month":
        return month(then.year, then.month)
    if unit in ("year", "decade", "century"):
        return year(then.year)
    return then, then


def some_ago(today: date, least: int, most: int, unit: str) -> Span:
    """Between `least` and `most` units ago; a month counts as 30 days, a year as 365."""
    days = {"week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365, "decade": 3650}.get(unit, 1)
    return today - timedelta(days=most * days), today - timedelta(days=least * days)


def part(span: Span, which: str) -> Span:
    """The early, mid or late third of a span: four months of a year, some ten days of a month, four years of ten."""
    first, last = span
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        months = {"early": (1, 4), "mid": (5, 8), "late": (9, 12)}[which]
        return date(first.year, months[0], 1), month(first.year, months[1])[1]
    if last == decade(first.year)[1] and first.month == first.day == 1:
        years = {"early": (0, 3), "mid": (3, 6), "late": (6, 9)}[which]
        return year(first.year + years[0])[0], year(first.year + years[1])[1]
    days = (last - first).days + 1
    third = 10 if days >= 28 and days <= 31 else max(days // 3, 1)
    bounds = {"early": (0, third - 1), "mid": (third, 2 * third - 1), "late": (2 * third, days - 1)}[which]
    return first + timedelta(days=bounds[0]), first + timedelta(days=bounds[1])


def added_months(today: date, months: int) -> date:
    """The same day `months` later or earlier, or the last of that month."""
    counted = today.year * _MONTHS + today.month - 1 + months
    to_year, number = counted // _MONTHS, counted % _MONTHS + 1
    return date(to_year, number, min(today.day, monthrange(to_year, number)[1]))
