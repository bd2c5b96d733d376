"""The kinds of phrases that name a time, in every language the grammar knows; the tables are in phrases.py."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest

from hindsight_aws.recall.when.find import time_windows
from hindsight_aws.recall.when.window import EARLIEST
from tests.unit.recall.when import phrases, phrases_cjk

WEDNESDAY = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)


def said(query: str) -> str:
    """The windows of a query as the tables write them; `ever` for one without a beginning."""
    windows = time_windows(query, WEDNESDAY)
    firsts = ["ever" if window.start == EARLIEST else str(window.start.date()) for window in windows]
    return " | ".join(f"{first}..{window.end.date()}" for first, window in zip(firsts, windows, strict=True))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(query, days, id=f"{kind}: {query}")
        for kind, rows in (phrases.KINDS | phrases_cjk.KINDS).items()
        for query, days in rows
    ],
)
def test_a_phrase_of_this_kind_means_these_days(query: str, expected: str) -> None:
    assert said(query) == expected


@pytest.mark.parametrize("query", phrases.NO_TIME)
def test_words_that_only_look_like_time_are_no_window(query: str) -> None:
    assert said(query) == ""


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("English", "When I asked about it, who said that the report from March 2025 was wrong?"),
        ("German", "Wer hat gesagt, dass der Bericht vom März 2025 falsch war?"),
        ("Spanish", "¿Quién dijo que el informe de marzo de 2025 estaba mal?"),
        ("French", "Qui a dit que le rapport de mars 2025 était faux ?"),
        ("Italian", "Chi ha detto che il rapporto di marzo 2025 era sbagliato?"),
        ("Portuguese", "Quem disse que o relatório de março de 2025 estava errado?"),
        ("Chinese", "谁说2025年3月的报告是错的?"),
        ("Japanese", "2025年3月の報告が間違っていると言ったのは誰ですか?"),
        ("Korean", "2025년 3월 보고서가 틀렸다고 누가 말했나요?"),
    ],
)
def test_a_whole_question_names_its_one_month(language: str, query: str) -> None:
    assert said(query) == "2025-03-01..2025-03-31", language


def test_what_is_read_is_the_phrase_of_the_window() -> None:
    windows = time_windows("notes 2024年3月5日から3月10日まで, then from March 3 to 7", WEDNESDAY)

    assert [window.text for window in windows] == ["2024年3月5日から3月10日まで", "from March 3 to 7"]


@pytest.mark.parametrize(
    "word",
    [
        "7 ",
        "3 days ",
        "early ",
        "the first week of the ",
        "between 3 and ",
        "2020 to ",
        "two days before ",
        "1-",
        "mar-",
        "de ",
        "2020年到",
        "上周一到",
        "一",
        "3월 ",
    ],
)
def test_twice_the_text_is_about_twice_the_work(word: str) -> None:
    short, long = (_places_read(word * (length // len(word))) for length in (400, 1_600))

    assert long <= 5 * short + 500


def _places_read(query: str) -> int:
    """How many functions a query calls."""
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        time_windows(query, WEDNESDAY)
    finally:
        sys.setprofile(before)
    return calls
