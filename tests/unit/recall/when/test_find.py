"""The grammar of time against its golden set, against the phrases of eight languages, and against hostile text."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_aws.recall.when.find import time_windows
from hindsight_aws.recall.when.window import hull

WEDNESDAY = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)
GOLDEN = json.loads((Path(__file__).parents[3] / "fixtures" / "temporal_cases.json").read_text(encoding="utf-8"))


def days(query: str, now: datetime = WEDNESDAY) -> list[str] | None:
    """First and last day of all that the query names, as the golden set writes them."""
    found = hull(time_windows(query, now))
    return None if found is None else [found[0].date().isoformat(), found[1].date().isoformat()]


@pytest.mark.parametrize("case", GOLDEN, ids=[f"{case['ref'][:10]} {case['query']}" for case in GOLDEN])
def test_the_golden_set_holds(case: dict[str, object]) -> None:
    now = datetime.fromisoformat(str(case["ref"])).replace(tzinfo=UTC)

    assert days(str(case["query"]), now) == case["expected"]


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("the day before yesterday", "2026-03-09", "2026-03-09"),
        ("this week", "2026-03-09", "2026-03-15"),
        ("next week", "2026-03-16", "2026-03-22"),
        ("this month", "2026-03-01", "2026-03-31"),
        ("five weeks ago", "2026-02-01", "2026-02-07"),
        ("a year ago", "2025-01-01", "2025-12-31"),
        ("past 24 hours", "2026-03-10", "2026-03-11"),
        ("within the last month", "2026-02-11", "2026-03-11"),
        ("in March", "2026-03-01", "2026-03-31"),
        ("since 2019", "2019-01-01", "2026-03-11"),
        ("since last week", "2026-03-02", "2026-03-11"),
        ("since Monday", "2026-03-09", "2026-03-11"),
        ("before 2020", "0001-01-02", "2019-12-31"),
        ("on the 21st", "2026-02-21", "2026-02-21"),
        ("from March 1 to 5", "2026-03-01", "2026-03-05"),
        ("Monday last week", "2026-03-02", "2026-03-02"),
        ("Feb 2025", "2025-02-01", "2025-02-28"),
        ("Sept 2024", "2024-09-01", "2024-09-30"),
        ("this quarter", "2026-01-01", "2026-03-31"),
        ("Q3", "2025-07-01", "2025-09-30"),
        ("summer 2024", "2024-06-01", "2024-08-31"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("late 2023", "2023-09-01", "2023-12-31"),
        ("the 80s", "1980-01-01", "1989-12-31"),
        ("January 2025 and February 2025", "2025-01-01", "2025-02-28"),
        ("Christmas 2024", "2024-12-24", "2024-12-26"),
        ("Thanksgiving 2024", "2024-11-28", "2024-11-28"),
        ("Easter 2025", "2025-04-20", "2025-04-20"),
        ("los últimos 7 días", "2026-03-04", "2026-03-11"),
        ("entre 2020 y 2022", "2020-01-01", "2022-12-31"),
        ("en marzo de 2025", "2025-03-01", "2025-03-31"),
        ("el verano pasado", "2025-06-01", "2025-08-31"),
        ("hace dos semanas", "2026-02-25", "2026-02-25"),
        ("la semaine dernière", "2026-03-02", "2026-03-08"),
        ("les 7 derniers jours", "2026-03-04", "2026-03-11"),
        ("depuis lundi", "2026-03-09", "2026-03-11"),
        ("in den letzten 7 Tagen", "2026-03-04", "2026-03-11"),
        ("vor 2020", "0001-01-02", "2019-12-31"),
        ("letzten Monat", "2026-02-01", "2026-02-28"),
        ("due settimane fa", "2026-02-25", "2026-02-25"),
        ("il 5 marzo", "2026-03-05", "2026-03-05"),
        ("5 de março de 2025", "2025-03-05", "2025-03-05"),
        ("上个季度", "2025-10-01", "2025-12-31"),
        ("上周三", "2026-03-04", "2026-03-04"),
        ("3日前", "2026-03-08", "2026-03-08"),
        ("先週の月曜日", "2026-03-02", "2026-03-02"),
        ("на прошлой неделе", "2026-03-02", "2026-03-08"),
    ],
)
def test_a_phrase_means_these_days(query: str, first: str, last: str) -> None:
    assert days(query) == [first, last]


@pytest.mark.parametrize(
    "query",
    [
        "what runs on port 9077",
        "issue 2031 status",
        "ticket 2019 status",
        "listening in 8080",
        "error 404",
        "version 3.11 released",
        "call me at 5pm",
        "meeting at 15:30",
        "what may Alice do",
        "may 5 people come",
        "who is April Johnson",
        "does she like June",
        "february 30 2025",
        "june 0000",
        "in 1890",
        "100,000 years ago",
        "十万年前",
        "日本周边",
        "明日香は誰ですか",
        "the marching band",
        "",
    ],
)
def test_what_may_mean_something_else_is_no_window(query: str) -> None:
    assert time_windows(query, WEDNESDAY) == ()


def test_several_phrases_are_several_windows() -> None:
    windows = time_windows("on 2025-01-10 and last week", WEDNESDAY)

    assert [window.text for window in windows] == ["2025-01-10", "last week"]


def test_a_window_is_in_the_zone_of_who_asks() -> None:
    pacific = timezone(timedelta(hours=-8))

    (window,) = time_windows("3 days ago", datetime(2026, 3, 11, 23, 30, tzinfo=pacific))

    assert window.start == datetime(2026, 3, 8, tzinfo=pacific)
    assert window.end == datetime(2026, 3, 8, 23, 59, 59, 999999, tzinfo=pacific)


def test_last_night_is_the_dark_part_of_two_days() -> None:
    (window,) = time_windows("what did the alarm say last night", WEDNESDAY)

    assert (window.start, window.end) == (
        datetime(2026, 3, 10, 18, tzinfo=UTC),
        datetime(2026, 3, 11, 6, tzinfo=UTC),
    )


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                "since before 3 99999 days ago last next year May 31 2025 from to 五 年 前 上 周 Q4 vor 0 of the "
                "first end Friday 31st February Easter - 29. 月 2月29日 去年 から 上旬 weekend night half in and "
                "'24 KW 53 century".split()
            )
        ).map(" ".join),
    ),
    st.dates(min_value=date(1, 1, 1), max_value=date(9999, 12, 31)),
)
def test_no_text_on_no_day_is_an_error(text: str, today: date) -> None:
    now = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)

    windows = time_windows(text, now)

    assert all(window.start <= window.end for window in windows)
