"""The keyword score of texts without postings: the formula of the SQL statement, over any collection."""

from __future__ import annotations

import math
from uuid import UUID

import pytest

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.recall import Bm25
from hindsight_aws.recall.words import Collection, keyword_hits

_A, _B, _C = (UnitId(UUID(int=number)) for number in range(3))
_TEXTS = {_A: "kettle kettle", _B: "kettle tram garden", _C: "garden"}


def test_a_score_is_bm25_by_the_collections_counts() -> None:
    known = Collection(units=100, terms=300, counts={"kettl": 5})
    bm25 = Bm25()

    hits = dict(keyword_hits(_TEXTS, ["kettl"], known, 16))

    k1, b, idf = bm25.k1, bm25.b, math.log(1 + (100 - 5 + 0.5) / 5.5) ** bm25.rarity
    assert hits[_A] == pytest.approx(idf * (k1 + 1) * 2 / (2 + k1 * (1 - b + b * 2 / 3)))
    assert hits[_B] == pytest.approx(idf * (k1 + 1) * 1 / (1 + k1 * (1 - b + b * 3 / 3)))
    assert _C not in hits


def test_a_term_that_the_collection_does_not_know_counts_as_it_stands_in_the_texts() -> None:
    known = Collection(units=10, terms=30, counts={})

    hits = keyword_hits(_TEXTS, ["kettl", "tram"], known, 16)

    assert [unit_id for unit_id, _ in hits] == [_B, _A]


def test_only_the_rarest_terms_count() -> None:
    known = Collection(units=100, terms=300, counts={"kettl": 50, "tram": 2, "garden": 60})

    assert [unit_id for unit_id, _ in keyword_hits(_TEXTS, ["garden", "kettl", "tram"], known, 1)] == [_B]


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert keyword_hits({}, ["kettl"], Collection(0, 0, {}), 16) == []
    assert keyword_hits(_TEXTS, [], Collection(0, 0, {}), 16) == []
