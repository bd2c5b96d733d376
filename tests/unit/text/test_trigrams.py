"""Trigrams, against what Postgres measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.text.trigrams import similarity
from tests.support.entities import SIMILARITIES


@pytest.mark.parametrize(("left", "right", "measured"), SIMILARITIES)
def test_trigrams_are_counted_as_postgres_counts_them(left: str, right: str, measured: float) -> None:
    assert similarity(left, right) == pytest.approx(measured, abs=1e-6)


@given(st.text(max_size=12), st.text(max_size=12))
def test_similarity_knows_no_order(left: str, right: str) -> None:
    assert similarity(left, right) == similarity(right, left)
