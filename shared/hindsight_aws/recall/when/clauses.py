"""Rules for time that is bounded: since March, before 2020, between 2020 and 2022, from January to March 2025.

Called by find.py before any rule for a single date; calls reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from hindsight_aws.recall.when.reader import Read, Reader
from hindsight_aws.recall.when.spans import Span
from hindsight_aws.recall.when.window import Kind


@dataclass(frozen=True, slots=True)
class Clause:
    """A bounded span; `first` None: without a beginning."""

    first: date | None
    last: date
    kind: Kind
    after: int
    confidence: float


def clause(reader: Reader, place: int) -> Clause | None:
    """The clause that begins at this place."""
    kinds = reader.at(place).meanings
    if "between" in kinds or "from" in kinds:
        between = _two(reader, place + 1, "and" if "between" in kinds else "to")
        if between is not None:
            return between
    if reader.at(place).text.casefold() == "from" and reader.year_at(place + 1) is not None:
        return _since(reader, place)
    for kind, rule in (("since", _since), ("before", _before), ("after", _after), ("until", _until)):
        if kind in kinds and (found := rule(reader, place)) is not None:
            return found
    return None


def _since(reader: Reader, place: int) -> Clause | None:
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
    read = _bound(reader, place)
    if read is None or read.span is None:
        return None
    return Clause(None, read.span[1], "until", read.after, read.confidence)


def _bound(reader: Reader, place: int) -> Read | None:
    return reader.atom(reader.past_of(place + 1), is_bound=True)


def _two(reader: Reader, place: int, joint: str) -> Clause | None:
    """`A and B`, `A to B`: what the first lacks, month or year, it has from the second."""
    first = reader.atom(reader.past_of(place), is_bound=True)
    if first is None or first.span is None or joint not in reader.at(first.after).meanings:
        return None
    start = reader.past_of(first.after + 1)
    second = reader.atom(start, is_bound=True) or _same_month(reader, start, first.span)
    if second is None or second.span is None:
        return None
    begins, ends = first.span, second.span
    if not first.has_year:
        begins = _in_year_of(begins, ends)
    if begins[0] > ends[1]:
        return None
    return Clause(begins[0], ends[1], "interval", second.after, min(first.confidence, second.confidence))


def _same_month(reader: Reader, place: int, first: Span) -> Read | None:
    """`March 1 and 5`: the second is a day of the first one's month."""
    number = reader.at(place).number("nth") or reader.at(place).number("number")
    if number is None or first[0] != first[1]:
        return None
    then = first[0].replace(day=number)
    return Read((then, then), place + 1)


def _in_year_of(first: Span, second: Span) -> Span:
    year = second[0].year if (first[0].month, first[0].day) <= (second[0].month, second[0].day) else second[0].year - 1
    shift = year - first[0].year
    return first[0].replace(year=first[0].year + shift), first[1].replace(year=first[1].year + shift)
