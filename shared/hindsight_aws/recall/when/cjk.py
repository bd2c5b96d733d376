"""Time in Chinese and Japanese, which write no spaces: patterns over the text.  Called by find.py; calls spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.spans import Span

HAS_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_DIGITS: Final = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_TENS: Final = {
    "十": 10,
    "百": 100,
    "千": 1_000,
    "万": 10_000,
    "萬": 10_000,
    "亿": 10**8,
    "億": 10**8,
    "廿": 20,
    "卅": 30,
}
_N: Final = r"(?:\d+|[〇零一二两兩三四五六七八九十百千万萬亿億廿卅]+)"
_UNIT: Final = (
    r"(?:天|日間|日间|日|個月|个月|ヶ月間|ヶ月|か月間|か月|カ月|週間|周间|週|周|星期|個星期|个星期|礼拜|個禮拜|年間|年)"
)
_DAYS: Final = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今日": 0, "今早": 0,
    "今晚": 0, "今朝": 0, "明天": 1, "明日": 1, "后天": 2, "後天": 2, "大后天": 3, "大後天": 3, "一昨日": -2,
    "おととい": -2, "きのう": -1, "きょう": 0, "あした": 1, "明後日": 2, "あさって": 2,
}  # fmt: skip
_WHOLE: Final = {
    "去年": ("year", -1), "前年": ("year", -2), "今年": ("year", 0), "明年": ("year", 1), "后年": ("year", 2),
    "昨年": ("year", -1), "一昨年": ("year", -2),
    "来年": ("year", 1), "先週": ("week", -1), "先々週": ("week", -2), "今週": ("week", 0),
    "来週": ("week", 1), "先月": ("month", -1), "先々月": ("month", -2), "今月": ("month", 0), "来月": ("month", 1),
    "先週末": ("weekend", -1), "今週末": ("weekend", 0), "来週末": ("weekend", 1),
}  # fmt: skip
_SHIFTS: Final = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "这个": 0, "這個": 0, "下": 1, "下下": 2}
_WEEKDAYS: Final = "一二三四五六日"
_JAPANESE_WEEKDAYS: Final = "月火水木金土日"


@dataclass(frozen=True, slots=True)
class CjkRead:
    """A stretch of the text; `span` None where it names no day there is."""

    start: int
    end: int
    span: Span | None


def cjk_spans(text: str, today: date) -> Iterator[CjkRead]:
    """What the text names, in order; the first pattern that fits at a place wins and takes it up."""
    at = 0
    while at < len(text):
        for pattern, meaning in _PATTERNS:
            match = pattern.match(text, at)
            if match is None:
                continue
            try:
                span = meaning(match, today)
            except (ValueError, OverflowError):
                span = None
            yield CjkRead(match.start(), match.end(), span)
            at = match.end()
            break
        else:
            at += 1


def number(text: str) -> int:
    """A number in digits or in Chinese numerals, up to 10^12.  Raises ValueError for more."""
    if text.isdigit():
        return int(text)
    total = part = digit = 0
    for sign in text:
        if sign in _DIGITS:
            digit = digit * 10 + _DIGITS[sign]
            continue
        power = _TENS[sign]
        if power >= 10_000:
            total, part, digit = (total + part + digit or 1) * power, 0, 0
        else:
            part, digit = part + (power if sign in "廿卅" else (digit or 1) * power), 0
        if total > 10**12:
            raise ValueError("no such number of years")
    return total + part + digit


def _unit(text: str) -> str:
    if "月" in text:
        return "month"
    if text[0] in "天日":
        return "day"
    return "year" if text[0] == "年" else "week"


def _shifted(match: re.Match[str], today: date) -> Span:
    shift = _SHIFTS[match["shift"]]
    unit = match["unit"]
    if unit in ("周末", "週末"):
        return spans.weekend(today, shift)
    if unit == "季度":
        return spans.relative(today, "quarter", shift)
    return spans.relative(today, "month" if "月" in unit else "week", shift)


def _weekday_of(match: re.Match[str], today: date) -> Span:
    """A Chinese weekday; without a week the last one before today."""
    name = "日" if match["day"] == "天" else match["day"]
    return _day_of_week(_WEEKDAYS.index(name), _SHIFTS.get(match["week"] or ""), today)


def _japanese_weekday(match: re.Match[str], today: date) -> Span:
    shift = {"先": -1, "今": 0, "来": 1}.get((match["week"] or " ")[0])
    return _day_of_week(_JAPANESE_WEEKDAYS.index(match["day"]), shift, today)


def _day_of_week(place: int, shift: int | None, today: date) -> Span:
    if shift is None:
        return spans.weekday(today, place, -1)
    return spans.day(spans.week_of(today, shift)[0], place)


def _ago(match: re.Match[str], today: date) -> Span:
    then = spans.back(today, number(match["n"]), _unit(match["unit"]))
    return then, then


def _rolling(match: re.Match[str], today: date) -> Span:
    return spans.back(today, number(match["n"]), _unit(match["unit"])), today


def _full(match: re.Match[str], _today: date) -> Span:
    year, month = _year(match["y"]), number(match["m"])
    if match["d"] is None:
        return spans.month(year, month)
    then = date(year, month, number(match["d"]))
    return then, then


def _month_day(match: re.Match[str], today: date) -> Span:
    month, day = number(match["m"]), number(match["d"])
    then = date(today.year, month, day)
    then = then if then <= today else date(today.year - 1, month, day)
    return then, then


def _bare_month(match: re.Match[str], today: date) -> Span:
    month = number(match["m"])
    return spans.month(today.year if month <= today.month else today.year - 1, month)


def _year_part(match: re.Match[str], today: date) -> Span:
    year = _year(match["y"]) if match["y"] else today.year
    if match["q"]:
        return spans.quarter(year, number(match["q"]))
    return spans.half(year, 1 if match["half"] == "上" else 2)


def _year_alone(match: re.Match[str], _today: date) -> Span:
    return spans.year(_year(match["y"]))


def _year(text: str) -> int:
    return int(text) if text.isdigit() else int("".join(str(_DIGITS[sign]) for sign in text))


def _words(table: dict[str, int]) -> str:
    return "|".join(sorted(table, key=len, reverse=True))


_Y: Final = r"(?P<y>\d{4}|[〇零一二三四五六七八九]{4})年"
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Span]], ...]] = (
    (re.compile(rf"{_Y}\s*(?P<m>{_N})月(?:\s*(?P<d>{_N})[日号號])?"), _full),
    (re.compile(rf"(?:{_Y})\s*(?:第(?P<q>[一二三四1-4])季度|(?P<half>[上下])半年)"), _year_part),
    (re.compile(r"(?P<y>)第(?P<q>[一二三四1-4])季度(?P<half>)"), _year_part),
    (re.compile(_Y), _year_alone),
    (re.compile(rf"(?P<m>{_N})月\s*(?P<d>{_N})[日号號]"), _month_day),
    (re.compile(rf"(?:最近|过去|過去|近|直近|この)(?:の)?\s*(?P<n>{_N})\s*(?P<unit>{_UNIT})"), _rolling),
    (re.compile(rf"(?P<n>{_N})\s*(?P<unit>{_UNIT})(?:之前|以前|前)"), _ago),
    (re.compile(r"(?P<week>先週の|今週の|来週の)?(?P<day>[月火水木金土日])曜日?"), _japanese_weekday),
    (
        re.compile(r"(?P<week>上上|上|这|這|本|下)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])"),
        _weekday_of,
    ),
    (
        re.compile(
            r"(?P<shift>上上|上|这|這|本|下下|下)(?:个|個)?"
            r"(?P<unit>周末|週末|季度|月|周(?![边围年刊期到转知密遊游])|週|星期|礼拜)"
        ),
        _shifted,
    ),
    (re.compile("|".join(sorted(_WHOLE, key=len, reverse=True))), lambda m, d: _whole(m[0], d)),
    (re.compile(rf"(?:{_words(_DAYS)})(?![性香菜葉])"), lambda m, d: spans.day(d, _DAYS[m[0]])),
    (re.compile(r"(?P<m>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?![份球亮饼光票])"), _bare_month),
)  # fmt: skip


def _whole(text: str, today: date) -> Span:
    unit, shift = _WHOLE[text]
    return spans.relative(today, unit, shift)
