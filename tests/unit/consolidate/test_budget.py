"""How much of what is believed already a call shows."""

from __future__ import annotations

from uuid import UUID

import pytest

from hindsight_aws.consolidate.budget import pool, within
from hindsight_aws.model.plan import ShownEvidence, ShownObservation
from hindsight_aws.text.tokens import count_tokens

A, B, C, D = (UUID(int=number) for number in range(1, 5))


def _text(tokens: int) -> str:
    """A text of so many tokens."""
    text = ""
    while count_tokens(text) < tokens:
        text += "tea "
    assert count_tokens(text) == tokens
    return text


def _observation(*sizes: int) -> ShownObservation:
    return ShownObservation(A, "It is so.", 1, evidence=tuple(ShownEvidence(_text(size)) for size in sizes))


def _fitted(observations: list[ShownObservation], total: int, each: int) -> list[list[int]]:
    """The sizes of the sources left to each."""
    return [[count_tokens(e.text) for e in one.evidence] for one in within(observations, total, each)]


@pytest.mark.parametrize(
    ("total", "each", "left"),
    [
        pytest.param(20, -1, [[10, 5], [3]], id="total-alone-is-shared-in-order"),
        pytest.param(15, -1, [[10, 5], []], id="total-alone-runs-out"),
        pytest.param(4, 12, [[10], [12]], id="each-has-its-own-and-the-total-is-not-used"),
        pytest.param(4096, 0, [[], []], id="each-of-nothing"),
        pytest.param(0, -1, [[], []], id="total-of-nothing"),
        pytest.param(-1, -1, [[10, 300, 5], [12, 3]], id="without-bound"),
        pytest.param(-1, 300, [[10, 5], [12, 3]], id="each-alone"),
    ],
)
def test_sources_are_shown_within_the_budgets(total: int, each: int, left: list[list[int]]) -> None:
    assert _fitted([_observation(10, 300, 5), _observation(12, 3)], total, each) == left


def test_a_source_that_does_not_fit_is_passed_over_and_smaller_ones_still_count() -> None:
    assert _fitted([_observation(300, 5, 10)], 20, -1) == [[5, 10]]


def test_each_fact_brings_its_best_observations_until_its_tokens_are_used_up() -> None:
    tokens = {A: 10, B: 10, C: 10, D: 5}

    assert pool([[A, B, C, D]], tokens, 25) == [A, B, D]


def test_an_observation_near_to_several_facts_is_shown_once() -> None:
    assert pool([[A, B], [B, C]], dict.fromkeys((A, B, C), 1), 100) == [A, B, C]


def test_the_best_by_either_way_of_looking_is_shown_whatever_its_length() -> None:
    assert pool([[A, B, C]], {A: 900, B: 900, C: 900}, 512) == [A, B]


def test_what_is_gone_takes_no_place() -> None:
    assert pool([[A, B, C]], {B: 1, C: 1}, 1) == [B]
