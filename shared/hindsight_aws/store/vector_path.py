"""Which way the vectors of a type are searched.  Called by store/recall.py; pure."""

from __future__ import annotations

from enum import Enum
from typing import Final

from hindsight_aws.ports.recall import CandidateQuery, TypeSize

# An entry of the index costs as much as ten vectors read one by one (20 µs, 1.9 µs): its neighbours are compared too.
_COST_OF_ENTRY: Final = 10


class VectorPath(Enum):
    """How the vectors of a type are searched."""

    EXACT = "exact"
    TAGGED = "tagged"
    INDEX = "index"


def vector_path(query: CandidateQuery, fact_type: str) -> VectorPath:
    """The cheapest way that misses nothing it need not miss.

    Every vector of a small bank is read, or every one under a rare tag.  A large bank goes through the index shared
    by all banks, unless the bank has so small a share of it that finding `limit` of its rows would cost more than to
    read them all.
    """
    size = query.census.sizes[fact_type]
    if query.census.anchor is not None and query.census.anchored < size.units:
        return VectorPath.TAGGED
    if size.units <= query.exact_limit or _COST_OF_ENTRY * expected_scan(query, size) >= size.units:
        return VectorPath.EXACT
    return VectorPath.INDEX


def expected_scan(query: CandidateQuery, size: TypeSize) -> int:
    """How many entries of the shared index hold `limit` of the bank's, if the bank's are spread evenly."""
    return round(query.limit * max(size.indexed / size.units, 1.0))
