"""Five cron fields as times, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_aws.model.cron import parse

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("expression", "last", "following"),
    [
        ("* * * * *", "2026-11-30 12:00", "2026-11-30 12:01"),
        ("*/15 * * * *", "2026-11-30 12:00", "2026-11-30 12:15"),
        ("5/20 * * * *", "2026-11-30 11:45", "2026-11-30 12:05"),
        ("30 6 * * *", "2026-11-30 06:30", "2026-12-01 06:30"),
        ("0 9-17/4 * * mon-fri", "2026-11-30 09:00", "2026-11-30 13:00"),
        ("0 0 1 * *", "2026-11-01 00:00", "2026-12-01 00:00"),
        ("0 0 29 2 *", "2024-02-29 00:00", "2028-02-29 00:00"),
        ("0 0 * * 7", "2026-11-29 00:00", "2026-12-06 00:00"),
        ("0 0 * * fri-mon", "2026-11-30 00:00", "2026-12-04 00:00"),
        ("0 0 13 * fri", "2026-11-27 00:00", "2026-12-04 00:00"),
        ("0,30 1 1 Jan,Jul *", "2026-07-01 01:30", "2027-01-01 01:00"),
    ],
)
def test_a_schedule_knows_its_last_and_its_next_time(expression: str, last: str, following: str) -> None:
    cron = parse(expression)

    assert f"{cron.last(NOON):%Y-%m-%d %H:%M}" == last
    assert f"{cron.next(NOON):%Y-%m-%d %H:%M}" == following


@pytest.mark.parametrize(
    "expression",
    ["", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *",
     "a * * * *", "1- * * * *", "@daily", "0 0 31 2 *", "² * * * *", "h * * * *", "r * * * *", "* * l * *"],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(expression: str) -> None:
    """[X054] A cron expression that is none."""
    with pytest.raises(ValueError, match=r"\w"):
        parse(expression)
