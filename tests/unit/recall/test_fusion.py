"""One ranking out of the arms'."""

from __future__ import annotations

import pytest

from hindsight_aws.recall.fusion import fuse, joined
from tests.unit.recall.made import unit_id

A, B, C, D = unit_id(1), unit_id(2), unit_id(3), unit_id(4)


def test_a_candidate_keeps_what_every_arm_said_of_it() -> None:
    first, second = fuse({"semantic": [(A, 0.8), (B, 0.5)], "keyword": [(B, 3.0)]})

    assert (first.id, first.scores, first.ranks) == (
        B,
        {"semantic": 0.5, "keyword": 3.0},
        {"semantic": 2, "keyword": 1},
    )
    assert (second.id, second.scores, second.ranks) == (A, {"semantic": 0.8}, {"semantic": 1})


def test_the_best_of_both_arms_gets_both_weights_whole() -> None:
    (only,) = fuse({"semantic": [(A, 0.62)], "keyword": [(A, 7.5)]})

    assert only.score == pytest.approx(1.0)


def test_a_hit_counts_in_proportion_to_the_best_of_its_arm() -> None:
    found = {candidate.id: candidate.score for candidate in fuse({"keyword": [(A, 8.0), (B, 2.0)]})}

    assert found[B] == pytest.approx(found[A] / 4)


def test_a_clear_keyword_hit_stays_ahead_of_a_crowd_of_lukewarm_vectors() -> None:
    crowd = [(unit_id(number), 0.31) for number in range(10, 60)]

    best = fuse({"semantic": [*crowd, (A, 0.305)], "keyword": [(A, 9.0), (unit_id(10), 0.4)]})[0]

    assert best.id == A


def test_equal_scores_are_ordered_by_the_best_rank_and_then_by_id() -> None:
    found = fuse({"semantic": [(C, 0.1), (B, 0.1)], "keyword": [(A, 0.0)]})

    assert [candidate.score for candidate in found] == [0.0, 0.0, 0.0]
    assert [candidate.id for candidate in found] == [A, C, B]


def test_scores_of_nothing_or_less_divide_by_nothing() -> None:
    found = fuse({"semantic": [(B, 0.0), (A, -0.2)], "keyword": [(C, 0.0)]})

    assert [candidate.score for candidate in found] == [0.0, 0.0, 0.0]
    assert [candidate.id for candidate in found] == [B, C, A]


def test_types_join_by_score_and_ties_keep_the_order_asked_for() -> None:
    hits = joined({"world": [(A, 2.0), (B, 1.0)], "observation": [(C, 1.0)]}, ("observation", "world"))

    assert list(hits) == [(A, 2.0), (C, 1.0), (B, 1.0)]


def test_reciprocal_ranks_are_those_of_the_textbook() -> None:
    found = {
        candidate.id: candidate.reciprocal_rank
        for candidate in fuse({"semantic": [(A, 0.9), (B, 0.8), (C, 0.7)], "keyword": [(C, 2.0), (A, 1.0)]})
    }

    assert found[A] == pytest.approx(0.032522, abs=1e-6)
    assert found[C] == pytest.approx(0.032266, abs=1e-6)
    assert found[B] == pytest.approx(0.016129, abs=1e-6)


def test_the_lists_of_the_textbook_in_three_arms() -> None:
    """[Q041]."""
    arms = {"semantic": [(A, 0.9), (B, 0.8), (C, 0.7)], "keyword": [(C, 2.0), (A, 1.0)], "graph": [(D, 0.5)]}

    found = {candidate.id: candidate.reciprocal_rank for candidate in fuse(arms)}

    assert found == {
        A: pytest.approx(0.032522, abs=1e-6),
        C: pytest.approx(0.032266, abs=1e-6),
        D: pytest.approx(0.016393, abs=1e-6),
        B: pytest.approx(0.016129, abs=1e-6),
    }


def test_the_first_of_all_four_arms() -> None:
    """[Q042]."""
    (only,) = fuse({arm: [(A, 1.0)] for arm in ("semantic", "keyword", "graph", "temporal")})

    assert only.reciprocal_rank == pytest.approx(4 / 61)
    assert set(only.ranks) == {"semantic", "keyword", "graph", "temporal"}


def test_what_two_arms_found_keeps_its_proximity() -> None:
    """[Q043]."""
    found = fuse({"semantic": [(A, 0.8), (B, 0.7)], "temporal": [(A, 0.9)]}, {A: 0.9})

    assert {candidate.id: candidate.proximity for candidate in found} == {A: 0.9, B: None}


def test_the_graph_arm_moves_nothing_that_another_arm_found() -> None:
    without = fuse({"semantic": [(A, 0.8), (B, 0.7)], "keyword": [(B, 2.0)]})

    arms = {"semantic": [(A, 0.8), (B, 0.7)], "keyword": [(B, 2.0)], "graph": [(D, 3.0), (A, 2.0)]}

    assert [candidate.id for candidate in fuse(arms)] == [*(candidate.id for candidate in without), D]


def test_what_only_its_date_speaks_for_passes_the_tail_of_the_others() -> None:
    arms = {"keyword": [(A, 9.0), (B, 0.5)], "temporal": [(D, 1.0)]}

    assert [candidate.id for candidate in fuse(arms)] == [A, D, B]
