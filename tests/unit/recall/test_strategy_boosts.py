"""What an operator's boosts of arms do: before a rerank model, after it, and without one."""

from __future__ import annotations

import pytest

from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.ranking import ranked
from hindsight_aws.recall.request import MinScores
from hindsight_aws.recall.strategy_boosts import added, kept
from tests.unit.recall.made import NOW, unit, unit_id

UNITS = {unit_id(number): unit(number) for number in (1, 2)}
FUSED = [
    Fused(unit_id(1), 1.0, ranks={"semantic": 1}),
    Fused(unit_id(2), 0.5, ranks={"graph": 1}),
]


def test_what_no_more_than_fits_is_kept_as_it_was_fused() -> None:
    """[Q046]."""
    assert kept(FUSED, {"graph": "high"}, 2) == FUSED


def test_a_boosted_arm_keeps_more_of_its_finds_and_the_order_stays_the_fused_one() -> None:
    """[Q046]."""
    by_words = [Fused(unit_id(number), 1 / number, ranks={"keyword": number}) for number in range(1, 9)]
    by_graph = [Fused(unit_id(10 + number), 0.01, ranks={"graph": number}) for number in range(1, 9)]

    plain = kept([*by_words, *by_graph], {}, 8)
    boosted = kept([*by_words, *by_graph], {"graph": "high"}, 8)

    assert plain == by_words
    assert [candidate.id for candidate in boosted] == [unit_id(1), *(unit_id(10 + number) for number in range(1, 8))]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("low", [0.05, 0.0333, 0.01, 0.002]),
        ("medium", [0.2, 0.16, 0.0667, 0.0151]),
        ("high", [0.5, 0.4444, 0.25, 0.0702]),
    ],
)
def test_a_boost_falls_with_the_rank_by_its_level(level: str, expected: list[float]) -> None:
    assert [added({"graph": rank}, {"graph": level}) for rank in (1, 2, 9, 50)] == pytest.approx(expected, abs=5e-5)


def test_the_temporal_arm_adds_the_same_at_every_rank_and_arms_add_up() -> None:
    assert added({"temporal": 40}, {"temporal": "medium"}) == 0.2
    assert added({"temporal": 40, "graph": 1, "keyword": 1}, {"temporal": "low", "graph": "high"}) == pytest.approx(
        0.55
    )


def test_boosts_come_after_a_rerank_model_and_not_without_one() -> None:
    """[Q047]."""
    boosts = {"graph": "high"}

    judged = ranked(FUSED, UNITS, NOW, MinScores(), [(0, 0.8), (1, 0.6)], boosts=boosts)
    passed = ranked(FUSED, UNITS, NOW, MinScores(), boosts=boosts)

    assert [hit.unit.id for hit in judged] == [unit_id(2), unit_id(1)]
    assert [hit.scores.final for hit in judged] == pytest.approx([1.1, 0.8])
    assert [hit.scores.reranker for hit in judged] == [0.6, 0.8]
    assert passed == ranked(FUSED, UNITS, NOW, MinScores())
