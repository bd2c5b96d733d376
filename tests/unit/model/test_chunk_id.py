"""A chunk's id says which bank and document it is of, whatever characters they are called by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.chunk_id import chunk_id, read_chunk_id


@given(bank=st.text(), document=st.text(), index=st.integers(0, 999_999))
def test_what_was_written_is_read_back(bank: str, document: str, index: int) -> None:
    assert read_chunk_id(chunk_id(bank, document, index)) == (bank, document, index)


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a", "b_c", 0), ("a_b", "c", 0)), (("a~", "b", 0), ("a", "~b", 0)), (("a", "b_1", 2), ("a", "b", 12))],
    ids=["R103-underscore", "R103-tilde", "R103-index"],
)
def test_names_that_join_alike_make_different_ids(one: tuple[str, str, int], other: tuple[str, str, int]) -> None:
    assert chunk_id(*one) != chunk_id(*other)


@pytest.mark.parametrize("text", ["", "a", "a_b", "a_b_", "a_b_-1", "a_b_01", "a_b_c_0", "a_b_1e3", "a_b_9999999999"])
def test_what_is_no_id_is_read_as_none(text: str) -> None:
    assert read_chunk_id(text) is None
