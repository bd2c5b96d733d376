"""How far behind is said in one word."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.recalled import Freshness
from hindsight_aws.reflect.tools.memories import level, worst


@pytest.mark.parametrize(
    ("behind", "word"),
    [
        pytest.param(0, "up_to_date", id="C134-none"),
        pytest.param(1, "slightly_stale", id="C134-one"),
        pytest.param(9, "slightly_stale", id="C134-nine"),
        pytest.param(10, "stale", id="C134-ten"),
        pytest.param(0, "up_to_date", id="X052-none"),
        pytest.param(3, "slightly_stale", id="X052-three"),
        pytest.param(12, "stale", id="X052-twelve"),
    ],
)
def test_how_far_a_scope_is_behind_is_said_in_one_word(behind: int, word: str) -> None:
    assert level(behind, 0) == word


def test_a_scope_with_facts_given_up_is_incomplete() -> None:
    """Case [X052]: however many wait besides."""
    assert [level(pending, 1) for pending in (0, 3, 12)] == ["incomplete"] * 3


@pytest.mark.parametrize(
    ("scopes", "word"),
    [
        ([(0, 0), (0, 0)], "up_to_date"),
        ([(0, 0), (3, 0)], "slightly_stale"),
        ([(12, 0), (3, 0)], "stale"),
        ([(12, 0), (0, 2)], "incomplete"),
        ([], "up_to_date"),
    ],
)
def test_several_scopes_are_as_fresh_as_the_one_furthest_behind(scopes: list[tuple[int, int]], word: str) -> None:
    assert worst(Freshness(ScopeId(uuid4()), pending, failed) for pending, failed in scopes) == word
