"""Ranks candidates by more than their own words: by what stands next to them, by whom they are about, and by time.

Called by recall/{retrieval,together}.py; calls text/terms.py; pure.  docs/howto/recall.md has the measurements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Final

from hindsight_aws.model.ids import DocumentId, UnitId
from hindsight_aws.model.recalled import RecalledUnit
from hindsight_aws.recall.fusion import Fused
from hindsight_aws.text.terms import LONGEST_TERM, terms

# The best hit nearby counts this much beside a memory's own score: what answers a question often stands a turn or two
# after what looks like it.  The best and not the sum: a long talk around the matter is not many times as good.
_WEIGHT: Final = 0.7
_REACH: Final = 4
_SHARES: Final = (0.0, *(0.8**further for further in range(_REACH)))
# Of a document with other hits, one that has none nearby is taken to stand next to this share of its own score: a
# little less than the median of the best ten hits (0.65).  What is its document's only hit, and what has no document,
# stands next to itself: a long talk whose turns are all alike shall not lift them above what says the same in one fact.
_QUIET: Final = 0.6
# A memory that opens with a name the question names is that one's own word, or tells what that one did.
_NAMED: Final = 1.3
# A question about a time means what lies in it, all of it alike; boosts.py says how near the middle matters.
_IN_TIME: Final = 1.2
# Shorter ones are pieces of words where words are written without spaces.
_SHORTEST_NAME: Final = 3


def in_context(candidates: Sequence[Fused], units: Mapping[UnitId, RecalledUnit], asked: Set[str]) -> tuple[Fused, ...]:
    """The candidates, given best first, by their scores in context; equal ones keep their order.

    A score becomes s + 0.7 max(0.6 s, best neighbour's), a neighbour's falling by a fifth with each place up to four
    places away in its document, and s + 0.7 s for the only one of its document; times 1.3 where the text opens with
    one of the `asked` index terms, and times 1.2 where it is in the time asked about.  What has no row keeps its own.
    The candidates hold the new scores afterwards.
    """
    beside = _beside(candidates, units)
    for candidate in candidates:
        if (unit := units.get(candidate.id)) is not None:
            candidate.score += _WEIGHT * beside.get(candidate.id, candidate.score)
            if _opening(unit.text[: 2 * LONGEST_TERM].split(maxsplit=1)[:1]) in asked:
                candidate.score *= _NAMED
            if candidate.is_in_time:
                candidate.score *= _IN_TIME
    return tuple(sorted(candidates, key=lambda candidate: -candidate.score))


def _opening(first: Sequence[str]) -> str | None:
    """The term of the word that a text begins with, if it can be a name."""
    return _term(first[0]) if first else None


@lru_cache(maxsize=4_096)
def _term(word: str) -> str | None:
    found = terms(word)[:1]
    return found[0] if found and len(found[0]) >= _SHORTEST_NAME else None


def _beside(candidates: Iterable[Fused], units: Mapping[UnitId, RecalledUnit]) -> dict[UnitId, float]:
    """The best score near each candidate of a document with several, less what distance takes from it."""
    best: dict[UnitId, float] = {}
    for line in _lines(candidates, units):
        if len(line) > 1:
            best.update((candidate.id, _QUIET * candidate.score) for _, candidate in line)
        for at, (place, candidate) in enumerate(line):
            for other_place, other in line[at + 1 : at + 1 + _REACH]:
                if (distance := other_place - place) > _REACH:
                    break
                share = _SHARES[distance]
                best[candidate.id] = max(best[candidate.id], share * other.score)
                best[other.id] = max(best[other.id], share * candidate.score)
    return best


def _lines(candidates: Iterable[Fused], units: Mapping[UnitId, RecalledUnit]) -> Iterator[list[tuple[int, Fused]]]:
    """The candidates of each document in its order, each with its place there.

    Places are counted in memories, as far as they are known: a chunk takes as many as its last candidate tells, one
    without a candidate takes one.
    """
    documents: defaultdict[DocumentId, list[tuple[int, int, int, Fused]]] = defaultdict(list)
    for number, candidate in enumerate(candidates):
        unit = units.get(candidate.id)
        if unit is not None and unit.document_id is not None and unit.chunk_index is not None:
            documents[unit.document_id].append((unit.chunk_index, unit.ordinal, number, candidate))
    for members in documents.values():
        members.sort()
        line: list[tuple[int, Fused]] = []
        chunk, begins = members[0][0], 0
        for index, ordinal, _, candidate in members:
            if index != chunk:
                begins, chunk = line[-1][0] + index - chunk, index
            line.append((begins + ordinal, candidate))
        yield line
