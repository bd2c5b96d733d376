"""The form in which Postgres holds and compares vectors.  Used by whatever in store/ writes or asks with one."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final

from pgvector import HalfVector

DIMENSIONS: Final = 512
"""What the column `memory_units.embedding` holds, whatever the model gives."""


def half_vector(values: Sequence[float]) -> HalfVector | None:
    """The vector padded with zeros, which change no cosine; None for one without direction, which no cosine ranks.

    Only zeros have none, and numbers that are not finite: their sum is not.

    Raises: ValueError for more than `DIMENSIONS` numbers.
    """
    if len(values) > DIMENSIONS:
        raise ValueError(f"a vector of {len(values)} numbers does not fit into {DIMENSIONS}")
    if not any(values) or not isfinite(sum(values)):
        return None
    return HalfVector([*values, *[0.0] * (DIMENSIONS - len(values))])
