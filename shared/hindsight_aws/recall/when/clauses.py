"""Rules for time that is bounded: since March, before 2020, between 2020 and 2022, from January to March 2025.

Called by find.py before any rule for a single date; calls reader.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.reader import Read, Reader
from hindsight_aws.recall.when.spans import Span
from hindsight_aws.recall.when.window import Kind

_PORTUGUESE: Final = ("semana", "feira", "década", "primavera")
"""Ends of words before which `da` is Portuguese for `of the`, and not Italian for `since`."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A bounded span; `first` None: without a beginning."""

    first: date | None
    last: date
    kind: Kind
    after: int
    confidence: float


@dataclass(frozen=True, slots=True)
class _Side:
    """One end of a span: a date, or the bare number of a day whose month the other end tells."""

    read: Read | None
    number: int | None
    place: int
    after: int


def clause(reader: Reader, place: int) -> Clause | None:
    """The clause that begins at this place."""
    kinds = reader.at(place).meanings
    if "between" in kinds and (found := _two(reader, place + 1, ("and", "to"), is_led=True)) is not None:
        return found
    if ("from" in kinds or "since" in kinds) and (found := _two(reader, place + 1, ("to",), is_led=True)) is not None:
        return found
    open_ended = _since(reader, place) if "from" in kinds else None
    if open_ended is not None and reader.means(open_ended.after, "to_now"):
        return replace(open_ended, after=open_ended.after + 1)
    start = reader.past_of(place + 1) if "in" in kinds or "in_year" in kinds else place
    if (found := _two(reader, start, ("to",), is_led=start > place)) is not None:
        return found
    if reader.at(place).text.casefold() == "from" and reader.year_at(place + 1) is not None:
        return None if reader.means(place + 2, "to") else _since(reader, place)
    for kind, rule in (("since", _since), ("before", _before), ("after", _after), ("until", _until)):
        if kind in kinds and (found := rule(reader, place)) is not None:
            return found
    return None


def _since(reader: Reader, place: int) -> Clause | None:
    if reader.at(place).text.casefold() == "da" and reader.at(place + 1).text.casefold().endswith(_PORTUGUESE):
        return None
    read = _bound(reader, place)
    if read is None or read.span is None or read.span[0] > reader.today:
        return None
    return Clause(read.span[0], reader.today, "since", read.after, read.confidence)


def _after(reader: Reader, place: int) -> Clause | None:
    read = _bound(reader, place)
    if read is None or read.span is None or read.span[1] >= reader.today:
        return None
    return Clause(read.span[1] + timedelta(days=1), reader.today, "since", read.after, read.confidence)


def _before(reader: Reader, place: int) -> Clause | None:
    read = _bound(reader, place)
    if read is None or read.span is None:
        return None
    return Clause(None, read.span[0] - timedelta(days=1), "until", read.after, read.confidence)


def _until(reader: Reader, place: int) -> Clause | None:
    """`until March 2025`, `by Friday`: a weekday is the next one to come; by June may be by somebody."""
    at = reader.past_of(place + 1)
    number = reader.at(at).number("weekday")
    if number is not None and not reader.means(at + 1, "relative"):
        then = spans.coming(reader.today, number)
        return Clause(None, then, "until", at + 1, 1.0)
    read = _bound(reader, place)
    if read is None or read.span is None:
        return None
    if reader.at(place).text.casefold() == "by" and not read.has_year and reader.means(at, "month"):
        return None
    return Clause(None, read.span[1], "until", read.after, read.confidence)


def _bound(reader: Reader, place: int) -> Read | None:
    return reader.atom(reader.past_of(place + 1), is_bound=True)


def _two(reader: Reader, place: int, joints: tuple[str, ...], *, is_led: bool) -> Clause | None:
    """`A and B`, `A to B`, `A - B`: what the first lacks, month or year, it has from the second."""
    if not reader.at(place).meanings:
        return None
    first = _side(reader, place)
    if first is None or not reader.means(first.after, *joints):
        return None
    is_dash = reader.means(first.after, "dash")
    second = _side(reader, reader.past(first.after + 1, "in_year") if first.read else first.after + 1)
    if second is None or (first.read is None and second.read is None and not _are_nth(reader, first, second)):
        return None
    if first.read is None and second.read is not None and not reader.means(second.place, "nth", "number", "ordinal"):
        return None
    found = _joined(reader, first, second)
    if found is None or reader.means(found.after, "counted") or (not is_led and _is_doubtful(reader, first, is_dash)):
        return None
    return found


def _is_doubtful(reader: Reader, first: _Side, is_dash: bool) -> bool:
    """Whether `A to B` without a lead word may be no span: `yesterday to`, a dash between two remarks."""
    return is_dash and first.read is not None and reader.means(first.place, "day", "night", "relative")


def _side(reader: Reader, place: int) -> _Side | None:
    at = reader.past_of(place)
    number = reader.day_at(at)
    read = reader.atom(at, is_bound=True)
    if number is not None and (read is None or (reader.means(at, "nth") and read.after == at + 1)):
        return _Side(None, number, at, at + 1)
    if read is None or read.span is None:
        return None
    return _Side(read, None, at, read.after)


def _are_nth(reader: Reader, first: _Side, second: _Side) -> bool:
    return reader.means(first.place, "nth", "dot") and reader.means(second.place, "nth", "dot")


def _joined(reader: Reader, first: _Side, second: _Side) -> Clause | None:
    after, sure = second.after, min(side.read.confidence if side.read else 1.0 for side in (first, second))
    if second.read is not None and second.read.span is not None:
        ends = second.read.span
        begins = _begins(first, second, ends)
        if begins is not None and begins[0] > ends[1]:
            ends = _later_end(reader, second, begins, ends)
        if begins is not None and not (second.read.has_year or (first.read and first.read.has_year)):
            begins, ends = spans.running(begins, ends, reader.today)
    elif first.read is not None and first.read.span is not None:
        begins, year = first.read.span, reader.year_said(after)
        if begins[0] != begins[1] or second.number is None or first.read.after != first.place + 2:
            return None
        if year is not None and not first.read.has_year:
            begins, after = spans.in_year(begins, year[0]), year[1]
        ends = spans.day(begins[0].replace(day=second.number), 0)
    else:
        ends = _latest_nth(reader, second.number or 0)
        begins = spans.day(ends[0].replace(day=first.number or 0), 0)
    if begins is None or begins[0] > ends[1]:
        return None
    return Clause(begins[0], ends[1], "interval", after, sure)


def _begins(first: _Side, second: _Side, ends: Span) -> Span | None:
    """The first end, with the month or the year of the second where it has none of its own."""
    if first.read is None:
        if ends[0] != ends[1]:
            return None
        month = ends[0] if (first.number or 0) <= ends[0].day else spans.added_months(ends[0].replace(day=1), -1)
        return spans.day(month.replace(day=first.number or 0), 0)
    begins = first.read.span
    if begins is None or first.read.has_year or second.read is None:
        return begins
    year = ends[0].year if (begins[0].month, begins[0].day) <= (ends[0].month, ends[0].day) else ends[0].year - 1
    return spans.in_year(begins, year)


def _later_end(reader: Reader, second: _Side, begins: Span, ends: Span) -> Span:
    """The second end after the first: `Monday to Friday`, `from 3 March 2024 to 7 April`."""
    if reader.means(second.place, "weekday") and second.after == second.place + 1:
        return spans.day(begins[0], (ends[0].weekday() - begins[0].weekday()) % 7)
    if second.read is None or second.read.has_year:
        return ends
    moved = spans.in_year(ends, begins[0].year)
    return moved if moved[0] >= begins[0] else spans.in_year(ends, begins[0].year + 1)


def _latest_nth(reader: Reader, number: int) -> Span:
    then = reader.today.replace(day=number)
    then = then if then <= reader.today else spans.added_months(reader.today.replace(day=1), -1).replace(day=number)
    return then, then
