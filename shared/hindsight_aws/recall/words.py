"""The keyword score of texts that no postings are kept of, or that postings of several banks do not compare.

Called by recall/past.py and recall/together.py; pure.  The same formula as `keyword` in store/sql/recall.sql.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.recall import Bm25, Hits
from hindsight_aws.text.terms import frequencies


@dataclass(frozen=True, slots=True)
class Collection:
    """What rarity and length are measured against: how many memories, with how many terms, and how many hold each."""

    units: int
    terms: int
    counts: Mapping[str, int]


def keyword_hits(
    texts: Mapping[UnitId, str],
    asked: Sequence[str],
    within: Collection,
    most_terms: int,
) -> Hits:
    """The texts that hold one of the terms asked for, best first by BM25; the rarest `most_terms` of the terms count.

    A term that the collection does not know counts as often as it stands in the texts.
    """
    bm25 = Bm25()
    found = {unit_id: frequencies(text) for unit_id, text in texts.items()}
    here = {term: sum(term in held for held in found.values()) for term in asked}
    counts = {term: max(within.counts.get(term, 0), here[term]) for term in asked}
    units = max(within.units, *counts.values(), 1) if counts else 1
    average = max(within.terms / units, 1.0)
    rarest = sorted((term for term in asked if counts[term]), key=lambda term: counts[term])[:most_terms]
    weights = {term: _weight(counts[term], units, bm25) for term in rarest}
    scored = [(unit_id, _score(held, weights, average, bm25)) for unit_id, held in found.items()]
    return sorted((hit for hit in scored if hit[1] > 0), key=lambda hit: (-hit[1], hit[0]))


def _weight(count: int, units: int, bm25: Bm25) -> float:
    rarity = math.log(1 + (units - count + 0.5) / (count + 0.5))
    return float(rarity**bm25.rarity) * (bm25.k1 + 1)


def _score(held: Mapping[str, int], weights: Mapping[str, float], average: float, bm25: Bm25) -> float:
    length = sum(held.values())
    saturation = bm25.k1 * (1 - bm25.b + bm25.b * length / average)
    return sum(weight * held[term] / (held[term] + saturation) for term, weight in weights.items() if term in held)
