"""The temporal arm's arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_aws.ports.recall import DatedHit, Dates, LinkedHit
from hindsight_aws.recall.temporal import best_date, entries, propagated, proximity, proximity_inside, temporal_arm
from hindsight_aws.recall.when.window import EARLIEST, Window
from tests.unit.recall.made import unit_id

START = datetime(2026, 3, 1, tzinfo=UTC)
WEEK = Window(START, START + timedelta(days=8))


def _day(number: float) -> datetime:
    return START + timedelta(days=number)


def _at(when: datetime | None) -> Dates:
    return Dates(when, None, None)


def _hit(number: int, day: float, similarity: float = 0.5) -> DatedHit:
    return DatedHit(unit_id(number), similarity, _at(_day(day)))


def _link(number: int, kind: str, weight: float, when: datetime | None = None) -> LinkedHit:
    return LinkedHit(unit_id(number), kind, weight, _at(when))


@pytest.mark.parametrize(
    ("dates", "windows", "expected"),
    [
        pytest.param(_at(_day(4)), [WEEK], 1.0, id="[Q034] at the middle"),
        pytest.param(_at(_day(8)), [WEEK], 0.0, id="[Q034] at the edge"),
        pytest.param(_at(_day(2)), [WEEK], 0.5, id="half way"),
        pytest.param(_at(_day(30)), [WEEK], 0.0, id="outside"),
        pytest.param(_at(_day(1)), [Window(_day(1), _day(1))], 1.0, id="[Q034] a window of one moment"),
        pytest.param(_at(None), [WEEK], None, id="undated"),
        pytest.param(Dates(_day(3), _day(5), _day(30)), [WEEK], 1.0, id="the middle of what lasted"),
        pytest.param(Dates(None, None, _day(4)), [WEEK], 1.0, id="when it was told of"),
        pytest.param(_at(_day(12)), [WEEK, Window(_day(11), _day(13))], 1.0, id="the nearest of two windows"),
        pytest.param(_at(_day(1)), [Window(EARLIEST, _day(2))], 1.0, id="before a date there is no middle"),
        pytest.param(_at(_day(3)), [Window(EARLIEST, _day(2))], 0.0, id="and after it nothing"),
    ],
)
def test_proximity_falls_from_the_middle_of_the_window_to_its_edges(
    dates: Dates, windows: Sequence[Window], expected: float | None
) -> None:
    assert proximity(dates, windows) == (None if expected is None else pytest.approx(expected))


def test_an_end_alone_is_a_date() -> None:
    assert best_date(Dates(None, _day(2), _day(9))) == _day(2)


def test_what_neither_happened_nor_was_told_of_in_a_window_has_no_proximity() -> None:
    assert proximity_inside(_at(_day(30)), [WEEK]) is None
    assert proximity_inside(_at(None), [WEEK]) is None
    assert proximity_inside(Dates(_day(-30), None, _day(4)), [WEEK]) == 0.0
    assert proximity_inside(Dates(_day(-9), _day(17), None), [WEEK]) == pytest.approx(1.0)


def test_few_hits_are_all_entries() -> None:
    found = [_hit(number, 1) for number in range(10)]

    assert entries(found, [WEEK]) == found


def test_hits_of_one_date_give_the_ten_most_similar() -> None:
    found = [_hit(number, 1, 1 - number / 100) for number in range(60)]

    assert [hit.id for hit in entries(found, [WEEK])] == [unit_id(number) for number in range(10)]


def test_the_first_eight_entries_come_from_eight_parts_of_the_window() -> None:
    crowded = [_hit(number, 0.5, 0.9) for number in range(1, 50)]
    others = [_hit(100 + part, part + 0.5, 0.2) for part in range(1, 8)]

    chosen = entries(crowded + others, [WEEK])

    assert len(chosen) == 10
    assert {hit.id for hit in others} <= {hit.id for hit in chosen[:8]}


def test_a_window_without_a_beginning_is_spread_from_its_first_hit() -> None:
    found = [_hit(number, 7.9, 0.9) for number in range(1, 50)] + [_hit(99, 0, 0.2)]

    assert unit_id(99) in {hit.id for hit in entries(found, [Window(EARLIEST, _day(8))])[:2]}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param("causes", 1.26, id="[Q035] causes"),
        pytest.param("caused_by", 1.26, id="caused by"),
        pytest.param("temporal", 0.63, id="[Q035] temporal"),
        pytest.param("enables", 0.945, id="[Q035] enables"),
    ],
)
def test_a_link_passes_on(kind: str, expected: float) -> None:
    assert propagated(_link(1, kind, 0.9)) == pytest.approx(expected)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_links_to_one_target_the_stronger_counts_in_any_order(order: int) -> None:
    """[Q036]."""
    links = [_link(2, "temporal", 0.9, _day(30)), _link(2, "causes", 0.9, _day(30))][::order]

    arm = temporal_arm({"world": [_hit(1, 4)]}, {"world": links}, [WEEK], 100)

    assert dict(arm.hits["world"])[unit_id(2)] == pytest.approx(1.26)


def test_a_weak_target_is_there_and_leads_no_further() -> None:
    """[Q037]: there is one step only."""
    arm = temporal_arm({"world": [_hit(1, 4)]}, {"world": [_link(2, "temporal", 0.15 / 0.7, _day(30))]}, [WEEK], 100)

    assert dict(arm.hits["world"]) == {unit_id(1): pytest.approx(1.0), unit_id(2): pytest.approx(0.15)}


def test_the_undated_count_a_little_and_have_no_proximity() -> None:
    undated = DatedHit(unit_id(1), 0.5, _at(None))

    arm = temporal_arm({"world": [undated]}, {"world": [_link(2, "temporal", 0.2)]}, [WEEK], 100)

    assert dict(arm.hits["world"]) == {unit_id(1): 0.5, unit_id(2): 0.3}
    assert arm.proximity == {}


def test_the_arm_keeps_to_its_limit() -> None:
    arm = temporal_arm({"world": [_hit(number, 4) for number in range(9)]}, {}, [WEEK], 3)

    assert len(arm.hits["world"]) == 3
