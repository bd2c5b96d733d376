"""Recency and proof."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_aws.model.recalled import RecalledUnit
from hindsight_aws.recall.boosts import boosted
from tests.unit.recall.made import NOW, unit


def _ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def _of(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def _end(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("candidate", "final"),
    [
        pytest.param(unit(occurred=(NOW, None)), 0.88, id="today"),
        pytest.param(unit(occurred=(_ago(182.5), None)), 0.80, id="half a year old"),
        pytest.param(unit(occurred=(_ago(365), None)), 0.736, id="a year old"),
        pytest.param(unit(occurred=(_ago(1000), None)), 0.736, id="never below a tenth"),
        pytest.param(unit(occurred=(_ago(-30), None)), 0.88, id="in the future"),
        pytest.param(unit(), 0.80, id="undated"),
        pytest.param(unit(mentioned_at=_ago(36.5)), 0.864, id="only mentioned"),
        pytest.param(unit(proof_count=3), 0.808789, id="three proofs"),
        pytest.param(unit(proof_count=10), 0.818421, id="ten proofs"),
        pytest.param(unit(proof_count=150), 0.84, id="proof is capped"),
        pytest.param(unit(proof_count=0), 0.80, id="no proof"),
        pytest.param(unit(occurred=(_of(2026, 1, 1), _end(2026, 12, 31))), 0.80, id="some time this year"),
        pytest.param(unit(occurred=(_of(2015, 1, 1), _end(2015, 12, 31))), 0.736, id="some time in a past year"),
        pytest.param(unit(occurred=(_of(2026, 2, 1), _end(2026, 2, 28))), 0.80, id="some time last month"),
        pytest.param(unit(occurred=(_ago(30), _ago(25))), 0.866849, id="a trip of five days"),
    ],
)
def test_a_base_of_eight_tenths_becomes(candidate: RecalledUnit, final: float) -> None:
    assert boosted(0.8, candidate, NOW) == pytest.approx(final, abs=1e-6)


def test_age_is_counted_to_the_instant_asked_about() -> None:
    asked_then = boosted(0.8, unit(occurred=(_of(2019, 12, 31), None)), _of(2020, 1, 1))

    assert asked_then == pytest.approx(0.88, abs=1e-3)


@pytest.mark.parametrize(("proximity", "final"), [(1.0, 0.968), (0.0, 0.792), (0.5, 0.88), (None, 0.88)])
def test_a_memory_of_today_near_the_time_asked_about_becomes(proximity: float | None, final: float) -> None:
    """[Q053]."""
    assert boosted(0.8, unit(occurred=(NOW, None)), NOW, proximity) == pytest.approx(final, abs=1e-6)
