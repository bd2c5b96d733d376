"""What fits: facts, chunks and source facts within their token budgets.  Called by recall/recall.py; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import RankedUnit, RecalledChunk, RecalledUnit, SourceFacts
from hindsight_aws.ports.recall import StoredChunk
from hindsight_aws.text.tokens import count_tokens, fewest_tokens, truncate

CHARACTERS_OF_A_TOKEN = 12
"""More than prose has of any language: how much text is read for a budget.  Blanks and rules of signs have more."""


def fitting(results: Sequence[RankedUnit], max_tokens: int) -> tuple[RankedUnit, ...]:
    """The results whose texts fit, taken in order, one that does not fit skipped for smaller ones after it.

    The best result comes whole when nothing fits; `max_tokens` of 0 or less gives none.
    """
    if max_tokens <= 0:
        return ()
    left = max_tokens
    taken: list[RankedUnit] = []
    for result in results:
        if left <= 0:
            break
        if (size := _size(result.unit.text, left)) <= left:
            taken.append(result)
            left -= size
    return tuple(taken or results[:1])


def fitting_chunks(chunks: Iterable[StoredChunk], bank: str, max_tokens: int) -> tuple[RecalledChunk, ...]:
    """Whole chunks in order; the first that overflows is cut to what is left, and nothing comes after it."""
    left = max_tokens
    taken: list[RecalledChunk] = []
    for chunk in chunks:
        if left <= 0:
            break
        size = count_tokens(chunk.text)
        text = chunk.text if size <= left else truncate(chunk.text, left)
        wire_id = chunk_id(bank, chunk.document, chunk.chunk_index)
        taken.append(RecalledChunk(wire_id, text, chunk.chunk_index, size > left))
        left -= size
    return tuple(taken)


def fitting_sources(
    results: Sequence[RankedUnit],
    sources_of: Mapping[UnitId, tuple[UnitId, ...]],
    facts: Mapping[UnitId, RecalledUnit],
    max_tokens: int,
    per_observation: int,
) -> SourceFacts:
    """The source facts of the observations in order, each once; an oversized one is skipped.

    `max_tokens` -1 is no limit; `per_observation` of 0 or more gives each observation a budget of its own instead of
    the total.
    """
    taken: dict[UnitId, RecalledUnit] = {}
    advertised: set[UnitId] = set()
    left = max_tokens if max_tokens >= 0 else None
    for result in results:
        if per_observation >= 0:
            left = per_observation
        for source in sources_of.get(result.unit.id, ()):
            advertised.add(source)
            fact = facts.get(source)
            if source in taken or fact is None:
                continue
            size = count_tokens(fact.text)
            if left is None or size <= left:
                taken[source] = fact
                left = None if left is None else left - size
    ids_of = {
        result.unit.id: sources_of.get(result.unit.id, ())
        for result in results
        if result.unit.fact_type == "observation"
    }
    return SourceFacts(ids_of, tuple(taken.values()), len(taken) < len(advertised))


def _size(text: str, left: int) -> int:
    """The text's tokens, or some number over `left` when it cannot fit."""
    fewest = fewest_tokens(text)
    return fewest if fewest > left else count_tokens(text)
