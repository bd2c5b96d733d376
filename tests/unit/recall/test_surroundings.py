"""What a memory's surroundings, its opening and its time add to its score."""

from __future__ import annotations

import pytest

from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.surroundings import in_context
from tests.unit.recall.made import unit, unit_id

_ALONE = 1 + 0.7


def test_a_memory_by_itself_stands_for_its_surroundings() -> None:
    units = {unit_id(1): unit(1), unit_id(2): unit(2, fact_type="observation")}

    found = in_context([Fused(unit_id(1), 1.0), Fused(unit_id(2), 0.5)], units, frozenset())

    assert [candidate.score for candidate in found] == pytest.approx([_ALONE, 0.5 * _ALONE])


def test_the_turn_after_a_hit_passes_a_better_one_elsewhere() -> None:
    units = {
        unit_id(1): unit(1, document="talk", place=(0, 0)),
        unit_id(2): unit(2, document="talk", place=(1, 0)),
        unit_id(3): unit(3, document="other", place=(1, 0)),
    }
    hit, after, elsewhere = (Fused(unit_id(number), score) for number, score in ((1, 1.0), (2, 0.3), (3, 0.4)))

    found = in_context([hit, elsewhere, after], units, frozenset())

    assert [candidate.id for candidate in found] == [unit_id(1), unit_id(2), unit_id(3)]
    assert found[1].score == pytest.approx(0.3 + 0.7)


def test_a_long_talk_of_like_turns_does_not_drown_what_says_it_better_in_one_fact() -> None:
    units = {unit_id(number): unit(number, document="talk", place=(number, 0)) for number in range(1, 41)}
    units |= {unit_id(41): unit(41, document="note", place=(0, 0)), unit_id(42): unit(42, fact_type="observation")}
    talk = [Fused(unit_id(number), 1.0) for number in range(1, 41)]

    found = in_context([Fused(unit_id(41), 1.02), Fused(unit_id(42), 1.01), *talk], units, frozenset())

    assert [candidate.id for candidate in found[:2]] == [unit_id(41), unit_id(42)]


def test_nearness_falls_with_each_place_and_ends_after_four() -> None:
    units = {unit_id(number): unit(number, document="talk", place=(number, 0)) for number in range(1, 7)}
    fused = [Fused(unit_id(1), 1.0), *(Fused(unit_id(number), 0.1) for number in range(2, 7))]

    found = {candidate.id: candidate.score for candidate in in_context(fused, units, frozenset())}

    near = [found[unit_id(number)] for number in range(2, 6)]
    assert near == pytest.approx([0.1 + 0.7 * 0.8**step for step in range(4)])
    assert found[unit_id(6)] == pytest.approx(0.1 + 0.7 * 0.1)


def test_places_within_a_chunk_count_and_chunks_without_candidates_take_one() -> None:
    units = {
        unit_id(1): unit(1, document="talk", place=(0, 2)),
        unit_id(2): unit(2, document="talk", place=(0, 4)),
        unit_id(3): unit(3, document="talk", place=(2, 1)),
    }
    fused = [Fused(unit_id(2), 1.0), Fused(unit_id(1), 0.1), Fused(unit_id(3), 0.1)]

    found = {candidate.id: candidate.score for candidate in in_context(fused, units, frozenset())}

    assert found[unit_id(1)] == pytest.approx(0.1 + 0.7 * 0.8)
    assert found[unit_id(3)] == pytest.approx(0.1 + 0.7 * 0.8**2)


@pytest.mark.parametrize(
    ("text", "is_lifted"),
    [
        ("Maren: I sold the boat.", True),
        ("Maren's boat is gone.", True),
        ("MAREN sold it.", True),
        ("The boat of Maren is gone.", False),
        ("I met Maren.", False),
        ("...", False),
    ],
)
def test_a_memory_that_opens_with_a_name_asked_about_is_lifted(text: str, is_lifted: bool) -> None:
    (found,) = in_context([Fused(unit_id(1), 1.0)], {unit_id(1): unit(1, text)}, frozenset({"maren", "boat"}))

    assert found.score == pytest.approx(_ALONE * (1.3 if is_lifted else 1.0))


def test_a_piece_of_a_word_is_no_name() -> None:
    (found,) = in_context([Fused(unit_id(1), 1.0)], {unit_id(1): unit(1, "東京 is far.")}, frozenset({"東", "東京"}))

    assert found.score == pytest.approx(_ALONE)


def test_what_lies_in_the_time_asked_about_is_lifted() -> None:
    units = {unit_id(1): unit(1), unit_id(2): unit(2)}

    found = in_context([Fused(unit_id(1), 1.0), Fused(unit_id(2), 0.9, is_in_time=True)], units, frozenset())

    assert [candidate.id for candidate in found] == [unit_id(2), unit_id(1)]


def test_equal_scores_keep_their_order_and_what_has_no_row_its_score() -> None:
    units = {unit_id(number): unit(number) for number in (1, 2, 3)}

    found = in_context([Fused(unit_id(number), 0.5) for number in (3, 1, 4, 2)], units, frozenset())

    assert [candidate.id for candidate in found] == [unit_id(3), unit_id(1), unit_id(2), unit_id(4)]
    assert found[-1].score == 0.5
