"""Time in Chinese, Japanese, Korean digits: dates joined to spans and bounds.  Called by find.py; calls cjk_atoms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.cjk_atoms import Atom, atom_at
from hindsight_aws.recall.when.cjk_words import N, number
from hindsight_aws.recall.when.spans import Span
from hindsight_aws.recall.when.window import Kind

HAS_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_START: Final = re.compile(
    r"(?<!\d)\d|[RHS](?=\d{1,2}年)|[〇零一二两兩三四五六七八九十百千廿卅大前去今明昨后後本来再先上这這下近过過最直未接こここれ周週星礼禮月火水木金土日"
    r"令平昭第お半几幾数數自从從작지올내재あき]"
)
_SINCE_LEAD: Final = re.compile(r"自从|自從|自|从|從")
_JOINT: Final = re.compile(r"\s*(?:到|至|から|부터|에서|[~〜－—–-])\s*(?:の)?")
_EVERY: Final = re.compile(r"[每毎]")
_AND: Final = re.compile(r"\s*(?:和|与|與|と|、|,|及|跟|과|와)\s*")
_SECOND_DAY: Final = re.compile(rf"(?P<d>{N})[日号號일]")
_BEFORE: Final = re.compile(r"\s*(?:之前|以前|より前|よりも前|より以前|이전)")
_BEFORE_YEAR: Final = re.compile(r"\s*(?:前|전)(?![半期\d一两三四五六七八九十])")
_SINCE: Final = re.compile(
    r"\s*(?:以来|以來|以降|之后|之後|以后|以後|より後|から(?!の)|开始|開始|至今|起|이후|이래|부터)"
)
_SINCE_YEAR: Final = re.compile(r"\s*(?:后|後)(?![半期\d一两三四五六七八九十])")
_UNTIL: Final = re.compile(r"\s*(?:まで(?:に)?|为止|為止|까지)")
_SPAN_END: Final = re.compile(r"\s*(?:まで(?:の間|に)?|之间|之間|の間|间|間|为止|까지|사이)")


@dataclass(frozen=True, slots=True)
class CjkRead:
    """A stretch of the text; `span` None where it names no day there is, its first None without a beginning."""

    start: int
    end: int
    span: tuple[date | None, date] | None
    kind: Kind = "interval"


def cjk_spans(text: str, today: date) -> Iterator[CjkRead]:
    """What the text names, in order; the longest that begins at a place takes it up."""
    at, year_of_former = 0, None
    while (start := _START.search(text, at)) is not None:
        lead = _SINCE_LEAD.match(text, start.start())
        begin = start.start() if lead is None else lead.end()
        atom = atom_at(text, begin, today)
        if atom is None:
            at, year_of_former = max(start.start() + 1, at), None
            continue
        joined = _AND.match(text, at)
        if year_of_former and atom.span and not atom.has_year and joined and joined.end() == begin:
            atom = atom.moved(spans.in_year(atom.span, year_of_former))
        try:
            read = _joined(text, atom, today) or _bounded(text, atom, today, is_since=lead is not None)
        except (ValueError, OverflowError):
            read = CjkRead(atom.start, atom.end, None)
        yield CjkRead(read.start, read.end, None) if _EVERY.search(text, max(begin - 2, 0), begin) else read
        at = max(read.end, start.start() + 1)
        year_of_former = atom.span[0].year if atom.span and (atom.has_year or year_of_former) else None


def _joined(text: str, first: Atom, today: date) -> CjkRead | None:
    """`A到B`, `AからBまで`: what B lacks, year, month or week, it has from A."""
    joint = _JOINT.match(text, first.end)
    if joint is None or first.span is None:
        return None
    second = atom_at(text, joint.end(), today)
    day = _SECOND_DAY.match(text, joint.end())
    if second is None and day is not None and first.span[0] == first.span[1]:
        then = first.span[0].replace(day=number(day["d"]))
        second = Atom(day.start(), day.end(), (then, then), has_year=True)
    if second is None or second.span is None:
        return None
    begins, ends = _fitted(first.span, second.span, first, second, today)
    if begins[0] > ends[1]:
        return None
    close = _SPAN_END.match(text, second.end)
    return CjkRead(first.start, second.end if close is None else close.end(), (begins[0], ends[1]))


def _fitted(begins: Span, ends: Span, first: Atom, second: Atom, today: date) -> tuple[Span, Span]:
    if first.is_weekday and second.is_weekday:
        return begins, spans.day(begins[0], (ends[0].weekday() - begins[0].weekday()) % 7)
    if not second.has_year and first.has_year:
        ends = spans.in_year(ends, begins[0].year)
        return begins, ends if ends[1] >= begins[0] else spans.in_year(ends, begins[0].year + 1)
    if not first.has_year:
        year = ends[0].year
        moved = spans.in_year(begins, year)
        begins = moved if moved[0] <= ends[1] else spans.in_year(begins, year - 1)
        return (begins, ends) if second.has_year else spans.running(begins, ends, today)
    return begins, ends


def _bounded(text: str, atom: Atom, today: date, *, is_since: bool) -> CjkRead:
    """The date itself, or what lies before it, after it, up to it."""
    if atom.span is None:
        return CjkRead(atom.start, atom.end, None)
    first, last = atom.span
    before = _BEFORE.match(text, atom.end) or (_BEFORE_YEAR.match(text, atom.end) if atom.is_full else None)
    if before is not None:
        return CjkRead(atom.start, before.end(), (None, first - timedelta(days=1)), "until")
    since = _SINCE.match(text, atom.end) or (_SINCE_YEAR.match(text, atom.end) if atom.is_full else None)
    if (since is not None or is_since) and first <= today:
        return CjkRead(atom.start, atom.end if since is None else since.end(), (first, today), "since")
    until = _UNTIL.match(text, atom.end)
    if until is not None:
        return CjkRead(atom.start, until.end(), (None, last), "until")
    return CjkRead(atom.start, atom.end, (first, last))
