"""How far behind is said in one word."""

from __future__ import annotations

import pytest

from hindsight_aws.reflect.tools import level


@pytest.mark.parametrize(
    ("behind", "word"),
    [
        pytest.param(0, "up_to_date", id="C134-none"),
        pytest.param(1, "slightly_stale", id="C134-one"),
        pytest.param(9, "slightly_stale", id="C134-nine"),
        pytest.param(10, "stale", id="C134-ten"),
    ],
)
def test_how_far_a_scope_is_behind_is_said_in_one_word(behind: int, word: str) -> None:
    assert level(behind) == word
