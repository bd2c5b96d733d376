"""Single dates in Chinese, Japanese and Korean digits: patterns over the text, which writes no spaces.

Called by cjk.py; calls spans, cjk_words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from hindsight_aws.recall.when import cjk_words as words
from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.cjk_words import N, number, one_of
from hindsight_aws.recall.when.named_days import named_day
from hindsight_aws.recall.when.spans import Span

_FEW: Final = (2, 5)
_WEEKDAYS: Final = "一二三四五六日"
_JAPANESE_WEEKDAYS: Final = "月火水木金土日"
_JAPANESE_WEEKS: Final = {"先々": -2, "先": -1, "今": 0, "来": 1, "再来": 2}
_KOREAN_SEASONS: Final = {"봄": "spring", "여름": "summer", "가을": "autumn", "겨울": "winter"}


@dataclass(frozen=True, slots=True)
class Atom:
    """One date in the text; `span` None where there is no such day; `is_full`: its year is written in digits."""

    start: int
    end: int
    span: Span | None
    has_year: bool = True
    is_full: bool = False
    is_weekday: bool = False

    def moved(self, span: Span) -> Atom:
        """The same stretch, meaning other days."""
        return replace(self, span=span)


def atom_at(text: str, at: int, today: date) -> Atom | None:
    """The date that is written at a place of the text."""
    try:
        found = _calendar(text, at, today)
        if found is not None:
            return found
        for pattern, meaning in _PATTERNS:
            if (match := pattern.match(text, at)) is not None:
                is_weekday = "day" in pattern.groupindex
                return Atom(at, match.end(), meaning(match, today), is_weekday=is_weekday)
    except (ValueError, OverflowError):
        return Atom(at, at + 1, None)
    return None


_YEAR: Final = re.compile(
    rf"(?P<y>\d{{4}}|[〇零一二三四五六七八九]{{4}})[年년](?!代)度?|(?P<era>{one_of(words.ERAS)})(?P<ey>元|{N})年度?"
    rf"|(?P<yy>\d\d)年(?=第|(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月)|(?P<ry>{one_of(words.YEARS)})"
)
_PARTS: Final = "|".join(words.PARTS.values())
_MONTH: Final = r"(?P<m>\d{1,2}|[一二三四五六七八九十]{1,2})(?:月|월)"
_WITHIN: Final = re.compile(
    rf"\s*[の的]?\s*(?:{_MONTH}份?(?:[の的]|\s)*(?:(?P<d>{N})[日号號일]|(?P<mp>{_PARTS}))?"
    rf"|第?(?P<q>[一二三四1-4])(?:季度|季(?![节節])|四半期|분기)|Q(?P<qq>[1-4])|(?P<half>[上下])(?:半年|半期)|(?P<jhalf>前半|後半)"
    rf"|(?P<s>[春夏秋冬]|봄|여름|가을|겨울)(?![节節])[天季]?|(?P<p>{_PARTS})|(?P<h>{one_of(words.HOLIDAYS)}))"
)
_ALONE: Final = re.compile(
    rf"{_MONTH}{words.NO_MONTH}份?(?:[の的]|\s)*(?:(?P<d>{N})[日号號일]|(?P<mp>{_PARTS}))?"
    r"|第(?P<q>[一二三四1-4])(?:季度|四半期)|(?P<q2>[一二三四1-4])(?:季度|분기)|(?P<half>[上下])(?:半年|半期)"
)
_MONTH_LEAD: Final = re.compile(
    r"(?P<cn>上上|上|这|這|本|下下|下)(?:个|個)?月|(?P<jp>先々月|先月|前月|今月|来月|再来月)"
)
_IN_MONTH: Final = re.compile(rf"[の的]?(?:(?P<d>{N})[日号號]|(?P<p>{_PARTS}))")
_ISO: Final = re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")


def _calendar(text: str, at: int, today: date) -> Atom | None:
    """A date of the calendar: `2024年3月5日`, `去年三月`, `令和7年3月`, `2月上旬`, `上个月5号`, `2024/3/5`."""
    if (iso := _ISO.match(text, at)) is not None:
        return Atom(at, iso.end(), spans.of_day(int(iso["y"]), int(iso["m"]), int(iso["d"])), is_full=True)
    lead = _YEAR.match(text, at)
    if lead is not None:
        year = _year(lead, today)
        within = _WITHIN.match(text, lead.end())
        is_full = lead["ry"] is None
        end = lead.end() if within is None else within.end()
        if not spans.is_near(today, year):
            return Atom(at, end, None)
        return Atom(at, end, spans.year(year) if within is None else _within(within, year), is_full=is_full)
    month = _MONTH_LEAD.match(text, at)
    if month is not None:
        shift = words.SHIFTS[month["cn"]] if month["cn"] else words.WHOLE[month["jp"]][1]
        span = spans.relative(today, "month", shift)
        inner = _IN_MONTH.match(text, month.end())
        if inner is None:
            return Atom(at, month.end(), span)
        if inner["d"]:
            return Atom(at, inner.end(), spans.day(span[0].replace(day=number(inner["d"])), 0))
        return Atom(at, inner.end(), spans.part(span, _part(inner["p"])))
    alone = _ALONE.match(text, at)
    if alone is None or _is_name(text, at):
        return None
    return Atom(at, alone.end(), _latest(alone, today), has_year=False)


def _is_name(text: str, at: int) -> bool:
    """Whether a month in numerals is a given name after a surname that begins a word: `王三月`."""
    before = text[at - 1 : at]
    is_first = not re.match(r"[\u3400-\u9fff]", text[at - 2 : at - 1]) if at > 1 else True
    return bool(before) and before in words.SURNAMES and not text[at].isdecimal() and is_first


def _year(match: re.Match[str], today: date) -> int:
    if match["era"]:
        return words.ERAS[match["era"]] + (1 if match["ey"] == "元" else number(match["ey"]))
    if match["ry"]:
        return today.year + words.YEARS[match["ry"]]
    return words.year_number(match["y"] or match["yy"])


def _part(word: str) -> str:
    return next(name for name, pattern in words.PARTS.items() if re.fullmatch(pattern, word))


def _within(match: re.Match[str], year: int) -> Span | None:
    """The month, day, quarter, half, season, part or named day of a year."""
    if match["m"]:
        month = number(match["m"])
        if match["d"]:
            return spans.of_day(year, month, number(match["d"]))
        span = spans.month(year, month)
        return spans.part(span, _part(match["mp"])) if match["mp"] else span
    if quarter := match["q"] or match["qq"]:
        return spans.quarter(year, number(quarter))
    if half := match["half"] or match["jhalf"]:
        return spans.half(year, 1 if half in ("上", "前半") else 2)
    if match["s"]:
        return spans.season(year, (words.SEASONS | _KOREAN_SEASONS)[match["s"]])
    if match["p"]:
        return spans.part(spans.year(year), _part(match["p"]))
    return named_day(words.HOLIDAYS[match["h"]], year)


def _latest(match: re.Match[str], today: date) -> Span:
    """A month, a day, a quarter or a half without its year: the latest that has begun."""
    span = today, today
    for year in (today.year, today.year - 1):
        if match["m"] and match["d"]:
            span = spans.of_day(year, number(match["m"]), number(match["d"]))
        elif match["m"]:
            span = spans.month(year, number(match["m"]))
        elif match["half"]:
            span = spans.half(year, 1 if match["half"] == "上" else 2)
        else:
            span = spans.quarter(year, number(match["q"] or match["q2"]))
        if span[0] <= today:
            break
    return spans.part(span, _part(match["mp"])) if match["m"] and match["mp"] else span


def _shifted(match: re.Match[str], today: date) -> Span:
    shift = words.SHIFTS[match["shift"]]
    unit = match["unit"]
    if unit in ("周末", "週末"):
        return spans.weekend(today, shift)
    return spans.relative(today, "quarter" if unit == "季度" else "week", shift)


def _weekday_of(match: re.Match[str], today: date) -> Span:
    """A Chinese weekday; without a week the last one before today."""
    name = "日" if match["day"] == "天" else match["day"]
    return _day_of_week(_WEEKDAYS.index(name), words.SHIFTS.get(match["week"] or ""), today)


def _japanese_weekday(match: re.Match[str], today: date) -> Span:
    return _day_of_week(_JAPANESE_WEEKDAYS.index(match["day"]), _JAPANESE_WEEKS.get(match["week"] or ""), today)


def _day_of_week(place: int, shift: int | None, today: date) -> Span:
    if shift is None:
        return spans.weekday(today, place, -1)
    return spans.day(spans.week_of(today, shift)[0], place)


def _ago(match: re.Match[str], today: date) -> Span:
    return spans.day(spans.back(today, number(match["n"]), words.unit_of(match["unit"])), 0)


def _ahead(match: re.Match[str], today: date) -> Span:
    return spans.day(spans.back(today, -number(match["n"]), words.unit_of(match["unit"])), 0)


def _about_ago(match: re.Match[str], today: date) -> Span:
    """`两三天前`: between the two numbers."""
    least, most = sorted((number(match["least"]), number(match["most"])))
    return spans.some_ago(today, least, most, words.unit_of(match["unit"]))


def _some_ago(match: re.Match[str], today: date) -> Span:
    return spans.some_ago(today, *_FEW, words.unit_of(match["u1"] or match["u2"]))


def _rolling(match: re.Match[str], today: date) -> Span:
    count = _FEW[1] if match["n"] in ("几", "幾", "数", "數") else number(match["n"])
    return spans.back(today, count, words.unit_of(match["unit"])), today


def _to_come(match: re.Match[str], today: date) -> Span:
    return today, spans.back(today, -number(match["n"]), words.unit_of(match["unit"]))


def _half_a_year_ago(_match: re.Match[str], today: date) -> Span:
    then = spans.added_months(today, -6)
    return spans.month(then.year, then.month)


def _decade(match: re.Match[str], _today: date) -> Span:
    if match["full"]:
        return spans.decade(int(match["full"]))
    first = number(match["tens"])
    if match["century"]:
        return spans.decade((number(match["century"]) - 1) * 100 + first)
    return spans.decade(first + (1900 if first >= 20 else 2000))


def _whole(match: re.Match[str], today: date) -> Span:
    unit, shift = words.WHOLE[match[0]]
    return spans.relative(today, unit, shift)


def _day(match: re.Match[str], today: date) -> Span:
    return spans.day(today, words.DAYS[match[0]])


_U: Final = rf"(?P<unit>{words.UNIT})"
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Span]], ...]] = (
    (
        re.compile(
            r"(?:(?P<century>\d\d|[一二十九]{2,3})世[纪紀]の?)?(?:(?P<full>\d{3}0)|(?P<tens>\d0|[一二三四五六七八九]?十))年代"
        ),
        _decade,
    ),
    (re.compile(rf"(?:最近|过去|過去|近|直近|この|ここ)の?\s*(?P<n>{N}|[几幾数數])(?:个|個)?\s*{_U}"), _rolling),
    (re.compile(rf"(?:未来|未來|接下来|接下來|今後|これから|この先)の?\s*(?P<n>{N})\s*{_U}"), _to_come),
    (
        re.compile(rf"(?P<least>[一二两三四五六七八])(?P<most>[二三四五六七八九])(?:个|個)?{_U}(?:之前|以前|前)"),
        _about_ago,
    ),
    (re.compile(rf"(?P<n>{N})\s*{_U}(?:之前|以前|前)(?:的今天)?"), _ago),
    (re.compile(rf"(?P<n>{N})\s*{_U}(?:之后|之後|以后|以後|后|後)"), _ahead),
    (
        re.compile(
            rf"(?<![十百千])(?:几|幾|数|數)(?:个|個)?(?P<u1>{words.UNIT})(?:之前|以前|前)"
            rf"|前(?:几|幾)(?:个|個)?(?P<u2>{words.UNIT})"
        ),
        _some_ago,
    ),
    (re.compile(r"半年(?:之前|以前|前)"), _half_a_year_ago),
    (re.compile(rf"{N}(?:个|個)?(?:小时|小時|時間|分钟|分鐘|分)(?:之前|前)"), lambda _, today: spans.day(today, 0)),
    (re.compile(r"(?:(?P<week>先々|先|今|来|再来)週の?)?(?P<day>[月火水木金土日])曜日?"), _japanese_weekday),
    (
        re.compile(r"(?P<week>上上|上|这|這|本|下下|下)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])"),
        _weekday_of,
    ),
    (
        re.compile(
            r"(?P<shift>上上|上|这|這|本|下下|下)(?:个|個)?"
            r"(?P<unit>周末|週末|季度|周(?![边围年刊期到转知密遊游])|週|星期|礼拜)"
        ),
        _shifted,
    ),
    (re.compile(one_of(words.WHOLE)), _whole),
    (re.compile(rf"(?:{one_of(words.DAYS)})(?![性香菜葉])"), _day),
)  # fmt: skip
