"""Text made fit to store, whoever wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.text.sanitise import can_be_stored, clean


@given(st.text(st.characters()))
def test_cleaning_is_idempotent_and_leaves_what_postgres_can_hold(text: str) -> None:
    cleaned = clean(text)

    assert clean(cleaned) == cleaned
    assert "\x00" not in cleaned
    assert can_be_stored(cleaned)
    cleaned.encode()


def test_marks_that_readers_need_are_kept() -> None:
    kept = "\t\n\r\u200f\u202ee\u0301👍🏽"

    assert clean(f"\x0b\x0c\x07\x7f\ud83d{kept}") == kept


@pytest.mark.parametrize("code", [0, 0xD800, 0xDFFF], ids=["nul", "high", "low"])
def test_postgres_holds_no_nul_and_no_lone_surrogate(code: int) -> None:
    assert not can_be_stored(f"a{chr(code)}b")


def test_postgres_holds_other_controls() -> None:
    assert can_be_stored("\x01\x1f\x7f\ue000\U0001f44d")
