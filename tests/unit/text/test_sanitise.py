"""Text made fit to store, whoever wrote it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.text.sanitise import clean


@given(st.text(st.characters()))
def test_cleaning_is_idempotent_and_leaves_what_postgres_can_hold(text: str) -> None:
    cleaned = clean(text)

    assert clean(cleaned) == cleaned
    assert "\x00" not in cleaned
    cleaned.encode()


def test_marks_that_readers_need_are_kept() -> None:
    kept = "\t\n\r\u200f\u202ee\u0301👍🏽"

    assert clean(f"\x0b\x0c\x07\x7f\ud83d{kept}") == kept
