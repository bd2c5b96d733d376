"""The final order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.ranking import ranked, without_covered
from hindsight_aws.recall.request import MinScores
from tests.unit.recall.made import NOW, result, unit, unit_id

UNITS = {unit_id(number): unit(number) for number in (1, 2, 3)}
FUSED = [Fused(unit_id(number), 1.0 / number) for number in (1, 2, 3)]


def test_without_a_rerank_model_bases_fall_with_the_fused_scores_from_one_to_a_tenth() -> None:
    found = ranked([*FUSED[:2], Fused(unit_id(3), 0.0)], UNITS, NOW, MinScores())

    assert [hit.scores.final for hit in found] == pytest.approx([1.0, 0.55, 0.1])
    assert all(hit.scores.reranker is None for hit in found)


def test_what_is_new_does_not_pass_what_fits_much_better() -> None:
    old = {
        id_: replace(row, mentioned_at=NOW - timedelta(days=900 if id_ == unit_id(1) else 0))
        for id_, row in UNITS.items()
    }

    found = ranked([Fused(unit_id(number), 1.0 / number) for number in (1, 2, 3)], old, NOW, MinScores())

    assert [hit.unit.id for hit in found] == [unit_id(1), unit_id(2), unit_id(3)]


def test_candidates_that_no_arm_scored_stay_in_their_order() -> None:
    found = ranked([Fused(unit_id(number)) for number in (3, 1, 2)], UNITS, NOW, MinScores())

    assert [hit.unit.id for hit in found] == [unit_id(3), unit_id(1), unit_id(2)]


def test_a_rerank_model_decides_and_the_unjudged_follow_in_fused_order() -> None:
    found = ranked(FUSED, UNITS, NOW, MinScores(), [(2, 0.9)])

    assert [hit.unit.id for hit in found] == [unit_id(3), unit_id(1), unit_id(2)]
    assert [hit.scores.reranker for hit in found] == [0.9, 0.0, 0.0]


def test_a_memory_that_vanished_between_the_reads_is_left_out() -> None:
    found = ranked(FUSED, {id_: row for id_, row in UNITS.items() if id_ != unit_id(2)}, NOW, MinScores())

    assert [hit.unit.id for hit in found] == [unit_id(1), unit_id(3)]


def test_floors_are_inclusive() -> None:
    assert len(ranked(FUSED, UNITS, NOW, MinScores(final=0.55))) == 2
    assert len(ranked(FUSED, UNITS, NOW, MinScores(reranker=0.9), [(0, 0.9), (1, 0.8)])) == 1


def test_a_floor_above_every_score_leaves_nothing() -> None:
    assert ranked(FUSED, UNITS, NOW, MinScores(final=2)) == []


def test_an_observation_covers_the_facts_it_rests_on() -> None:
    results = [result(1, fact_type="observation"), result(2), result(3)]

    kept = without_covered(results, {unit_id(1): (unit_id(2),)}, 3)

    assert [hit.unit.id for hit in kept] == [unit_id(1), unit_id(3)]


def test_an_observation_below_the_window_covers_nothing() -> None:
    results = [result(2), result(3), result(1, fact_type="observation")]

    assert without_covered(results, {unit_id(1): (unit_id(2),)}, 2) == results


def test_being_in_the_time_asked_about_lifts_and_never_lowers() -> None:
    """[Q043]."""
    near, edge, other = (Fused(unit_id(number), 1.0, proximity=at) for number, at in ((1, 1.0), (2, 0.0), (3, None)))

    found = ranked([near, edge, other], UNITS, NOW, MinScores())

    assert [hit.scores.final for hit in found] == pytest.approx([1.1, 1.0, 1.0])
