"""Which way the vectors of a type are searched, by the size of the bank and its share of the index."""

from __future__ import annotations

from array import array
from uuid import UUID

import pytest

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import Anchor, CandidateQuery, Census, TypeSize
from hindsight_aws.store.vector_path import VectorPath, vector_path


@pytest.mark.parametrize(
    ("units", "indexed", "anchored", "path"),
    [
        pytest.param(10_000, 10_000, None, VectorPath.EXACT, id="a small bank is read whole"),
        pytest.param(10_001, 10_001, None, VectorPath.INDEX, id="a larger one goes through the index"),
        pytest.param(50_000, 150_000, None, VectorPath.INDEX, id="and so it does among as many others"),
        pytest.param(12_000, 200_000, None, VectorPath.EXACT, id="too small a share of the index is read whole"),
        pytest.param(100_000, 10_000_000, None, VectorPath.EXACT, id="however large"),
        pytest.param(50_000, 50_000, 500, VectorPath.TAGGED, id="a rare tag leads to its own"),
        pytest.param(500, 50_000, 500, VectorPath.EXACT, id="a tag of all of them does not"),
    ],
)
def test_the_cheapest_way_is_taken(units: int, indexed: int, anchored: int | None, path: VectorPath) -> None:
    anchor = None if anchored is None else Anchor(frozenset({"a"}), untagged=False)
    census = Census({"world": TypeSize(units, units * 10, indexed)}, anchor, anchored or 0)
    query = CandidateQuery(
        BankId(UUID(int=1)), ("world",), TagFilter(), limit=300, census=census, vector=array("f", [1.0])
    )

    assert vector_path(query, "world") is path
