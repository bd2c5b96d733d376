"""A vector in Postgres's form."""

from __future__ import annotations

from array import array
from math import inf, nan

import pytest

from hindsight_aws.store.vectors import DIMENSIONS, half_vector


def test_a_short_vector_is_padded_with_zeros() -> None:
    made = half_vector(array("f", [0.5, -0.25]))

    assert made is not None
    assert made.to_list() == [0.5, -0.25, *[0.0] * (DIMENSIONS - 2)]


@pytest.mark.parametrize("values", [[], [0.0], [0.0] * DIMENSIONS, [nan, 1.0], [1.0, inf], [inf, -inf]])
def test_a_vector_without_direction_is_none(values: list[float]) -> None:
    assert half_vector(values) is None


def test_a_vector_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit into 512"):
        half_vector([1.0] * (DIMENSIONS + 1))
