"""Rules for several dates named together: in 2019 and 2021, March 3 and 7.

Called by find.py before the rules for a single date; calls reader.
"""

from __future__ import annotations

from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import LIKELY, Read, Reader

_MOST: Final = 6


def listed(reader: Reader, place: int) -> list[Read]:
    """The dates of the list that begins at this place, two or more; empty where none does.

    Years need an `in` before them, months an `in` or a year after them.
    """
    is_led = reader.means(place, "in", "in_year")
    if not (is_led or reader.means(place, "month", "short_month", "quarter", "number", "nth", "dot")):
        return []
    start = reader.past(place + 1, "of", "year_word") if is_led else place
    if (month := reader.any_month_at(start)) is not None:
        items, after = _items(reader, start + 1, "day")
        if len(items) > 1 and not reader.means(after, "unit", "counted", "month"):
            return _days(reader, items, month, after)
    for kind in ("month", "quarter", "year", "day"):
        items, after = _items(reader, start, kind)
        if len(items) > 1:
            return _dates(reader, items, after, kind, is_led=is_led)
    return []


def _items(reader: Reader, place: int, kind: str) -> tuple[list[int], int]:
    """The members of a list of one kind, with at least one `and`; and the place after the last."""
    items: list[int] = []
    has_joint, at, after = False, place, place
    while len(items) < _MOST:
        item = _item(reader, at, kind)
        if item is None:
            break
        items.append(item)
        after = at + 1
        at = reader.past(after, "and", "or")
        has_joint = has_joint or at > after
        at = reader.past(at, "in", "of") if at > after else at
    if not items or not has_joint:
        return [], place
    return items, after


def _item(reader: Reader, place: int, kind: str) -> int | None:
    if kind == "month":
        return reader.any_month_at(place)
    if kind == "year":
        return reader.year_at(place)
    return reader.at(place).number("quarter") if kind == "quarter" else reader.day_at(place)


def _dates(reader: Reader, items: list[int], after: int, kind: str, *, is_led: bool) -> list[Read]:
    if kind == "year":
        return [Read(spans.year(item), after) for item in items] if is_led else []
    if kind == "day":
        at = reader.past_of(after)
        month = reader.any_month_at(at)
        return [] if month is None else _days(reader, items, month, at + 1)
    year = reader.year_said(after)
    if year is None and kind == "month" and not is_led:
        return []
    after = after if year is None else year[1]
    if kind == "quarter":
        return [Read(spans.quarter(year[0] if year else reader.today.year, item), after, LIKELY) for item in items]
    months = [spans.month(year[0], item) if year else reader.latest_month(item) for item in items]
    return [Read(span, after, LIKELY) for span in months]


def _days(reader: Reader, items: list[int], month: int, after: int) -> list[Read]:
    """Days of one month, of the year that follows or of the latest."""
    year = reader.year_said(after)
    days = [spans.of_day(year[0], month, item) if year else reader.latest_day(month, item) for item in items]
    return [Read(span, year[1] if year else after, LIKELY) for span in days]
