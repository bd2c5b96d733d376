"""From fused candidates and their rows to the final order.  Called by recall/recall.py; calls recall/boosts.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import RankedUnit, RecalledUnit, Scores
from hindsight_aws.recall.boosts import NEUTRAL, boosted
from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.request import MinScores

RAW_TYPES = frozenset({"world", "experience"})
_LOWEST_PASSTHROUGH = 0.1


def ranked(
    candidates: Sequence[Fused],
    units: Mapping[UnitId, RecalledUnit],
    now: datetime,
    floors: MinScores,
    reranked: Sequence[tuple[int, float]] | None = None,
    *,
    ranks_only: bool = False,
) -> list[RankedUnit]:
    """The candidates whose rows are there, best first, those under a floor left out.

    Base scores are the rerank model's, unjudged candidates following with 0 in fused order; without a model they fall
    evenly from 1 to 0.1 over the fused order, so that the boosts re-order neighbours rather than replace the ranking.
    Equal finals keep the order of the bases.  `reranked` indexes the candidates whose rows are there; with `ranks_only`
    its scores are not shown.
    """
    there = [candidate for candidate in candidates if candidate.id in units]
    judged = _passed_through(len(there)) if reranked is None else _judged(reranked, len(there))
    scored: list[RankedUnit] = []
    for index, base in judged:
        candidate = there[index]
        unit = units[candidate.id]
        scores = Scores(
            final=boosted(base, unit, now, _lifting(candidate.proximity)),
            reranker=None if reranked is None or ranks_only else base,
            semantic=candidate.scores.get("semantic"),
            keyword=candidate.scores.get("keyword"),
        )
        if _is_over(scores, floors, base):
            scored.append(RankedUnit(unit, scores))
    return sorted(scored, key=lambda result: -result.scores.final)


def without_covered(
    results: Sequence[RankedUnit], sources_of: Mapping[UnitId, Sequence[UnitId]], window: int
) -> list[RankedUnit]:
    """The results less the raw facts that an observation among the first `window` of them rests on."""
    covered = {source for result in results[:window] for source in sources_of.get(result.unit.id, ())}
    return [result for result in results if result.unit.id not in covered or result.unit.fact_type not in RAW_TYPES]


def _lifting(proximity: float | None) -> float | None:
    """Being in the time asked about lifts and never lowers: who asks about a week means its Monday as well."""
    return None if proximity is None else max(proximity, NEUTRAL)


def _passed_through(count: int) -> list[tuple[int, float]]:
    step = (1 - _LOWEST_PASSTHROUGH) / max(1, count - 1)
    return [(index, 1 - step * index) for index in range(count)]


def _judged(reranked: Sequence[tuple[int, float]], count: int) -> list[tuple[int, float]]:
    best = sorted(reranked, key=lambda pair: (-pair[1], pair[0]))
    seen = {index for index, _ in best}
    return best + [(index, 0.0) for index in range(count) if index not in seen]


def _is_over(scores: Scores, floors: MinScores, base: float) -> bool:
    return (floors.reranker is None or base >= floors.reranker) and (
        floors.final is None or scores.final >= floors.final
    )
