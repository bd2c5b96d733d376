"""The words of time in Chinese and Japanese, and the years and months of Korean digits.  Read by cjk.py."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

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
N: Final = r"(?:\d{1,6}|[〇零一二两兩三四五六七八九十百千万萬亿億廿卅]{1,8})"
"""A number in digits or in numerals."""

UNIT: Final = (
    r"(?:天|日間|日间|日|個月|个月|ヶ月間|ヶ月|か月間|か月|カ月|週間|周间|週|周|星期|個星期|个星期|礼拜|個禮拜|年間|年)"
)
DAYS: Final = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨晩": -1, "昨夜": -1, "今天": 0, "今日": 0,
    "今早": 0,
    "今晚": 0, "今晩": 0, "今夜": 0, "今朝": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "后天": 2, "後天": 2,
    "大后天": 3, "大後天": 3, "一昨日": -2, "一昨々日": -3, "おととい": -2, "きのう": -1, "きょう": 0, "あした": 1,
    "明後日": 2, "あさって": 2, "明々後日": 3,
}  # fmt: skip
YEARS: Final = {
    "大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2, "大后年": 3, "大後年": 3,
    "一昨年": -2,
    "おととし": -2, "昨年": -1, "本年": 0, "来年": 1, "再来年": 2, "작년": -1, "지난해": -1, "올해": 0, "내년": 1,
    "재작년": -2,
}  # fmt: skip
WHOLE: Final = {
    "先週": ("week", -1), "前週": ("week", -1), "先々週": ("week", -2), "先先週": ("week", -2), "今週": ("week", 0),
    "来週": ("week", 1),
    "再来週": ("week", 2), "先月": ("month", -1), "先々月": ("month", -2), "前月": ("month", -1), "今月": ("month", 0),
    "来月": ("month", 1), "再来月": ("month", 2), "先週末": ("weekend", -1), "今週末": ("weekend", 0),
    "来週末": ("weekend", 1), "今世紀": ("century", 0),
}  # fmt: skip
SHIFTS: Final = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "这个": 0, "這個": 0, "下": 1, "下下": 2}
ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "R": 2018, "H": 1988, "S": 1925}
"""The year before the first of each Japanese era."""

SEASONS: Final = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
PARTS: Final = {
    "early": "年初め|月初め|初め|年初|月初|初旬|初头|初|上旬|頭|はじめ|초",
    "mid": "年中|中旬|中頃|中ごろ|半ば|中期",
    "late": "年底|年末|月底|月末|下旬|底|末|終わり|말",
}
HOLIDAYS: Final = {
    "圣诞节": "christmas", "聖誕節": "christmas", "クリスマス": "christmas", "平安夜": "12-24", "元旦": "1-1",
    "元日": "1-1",
    "大晦日": "12-31", "国庆节": "10-1", "國慶節": "10-1", "情人节": "2-14", "ハロウィン": "10-31", "万圣节": "10-31",
    "复活节": "easter+0", "イースター": "easter+0", "感恩节": "11:3:4+0", "劳动节": "5-1", "儿童节": "6-1",
    "春节": "unknown", "春節": "unknown", "中秋节": "unknown", "端午节": "unknown", "お盆": "unknown",
    "旧正月": "unknown",
}  # fmt: skip
_AFTER_NAMES: Final = r"さん|ちゃん|くん|君|様|氏|先生|小姐|女士|同学|是谁|是誰"
NO_MONTH: Final = (
    r"(?!份?(?:革命|天(?![气氣])|球|亮|饼|餅|光|票|号|號|花|桂|风暴|起义|起義|战争|戰爭|流火|革|" + _AFTER_NAMES + r"))"
)
"""What makes a month another thing: a revolution, a moon cake, the issue of a magazine, somebody's name."""

SURNAMES: Final = "王李张張刘劉陈陳杨楊黄黃赵趙吴吳徐孙孫马馬朱胡郭何林罗羅郑鄭梁宋谢謝唐"
"""Before a month in numerals, at the beginning of a name: the month is somebody's name."""


def number(text: str) -> int:
    """A number in digits or in Chinese numerals, up to 10^12.  Raises ValueError for more."""
    if text.isdigit():
        if len(text) > 9:
            raise ValueError("no such number of years")
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
        if max(total, digit) > 10**12:
            raise ValueError("no such number of years")
    return total + part + digit


def year_number(text: str) -> int:
    """A year in digits: `2024`, `二〇二四`, and `24` of this century."""
    digits = "".join(sign if sign.isdigit() and sign in "0123456789" else str(_DIGITS[sign]) for sign in text)
    return int(digits) + (2000 if len(digits) == 2 else 0)


def unit_of(text: str) -> str:
    """Which unit of the calendar a word for it names."""
    if "月" in text:
        return "month"
    if text[0] in "天日":
        return "day"
    return "year" if text[0] == "年" else "week"


def one_of(words: Iterable[str]) -> str:
    """A pattern for the longest of the words."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
