"""From fused candidates and their rows to the final order.  Called by recall/recall.py; calls recall/boosts.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hindsight_aws.access import RAW_TYPES
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import RankedUnit, RecalledUnit, Scores
from hindsight_aws.recall.boosts import NEUTRAL, boosted
from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.request import MinScores
from hindsight_aws.recall.strategy_boosts import added

_LOWEST_PASSTHROUGH = 0.1


def ranked(
    candidates: Sequence[Fused],
    units: Mapping[UnitId, RecalledUnit],
    now: datetime,
    floors: MinScores,
    reranked: Sequence[tuple[int, float]] | None = None,
    *,
    ranks_only: bool = False,
    boosts: Mapping[str, str] | None = None,
    shows_keyword: bool = True,
) -> list[RankedUnit]:
    """The candidates whose rows are there, best first, those under a floor left out.

    Base scores are the rerank model's, unjudged candidates following with 0 in fused order; without a model they fall
    from 1 for the best to 0.1 for nothing, in proportion to the fused scores.  Not evenly by rank: of hundreds of even
    steps a boost of a tenth takes thirty, and the newest would come before the best.  Equal finals keep the order of
    the bases.  `reranked` indexes the candidates whose rows are there; with `ranks_only` its scores are not shown.
    `boosts` add to what a rerank model says, and to nothing else: they are in the candidates' choice already.  Without
    `shows_keyword` the scores leave out how rare the bank's words are.
    """
    there = [candidate for candidate in candidates if candidate.id in units]
    judged = _passed_through(there) if reranked is None else _judged(reranked, len(there))
    scored: list[RankedUnit] = []
    for index, base in judged:
        candidate = there[index]
        unit = units[candidate.id]
        scores = Scores(
            final=boosted(base, unit, now, _lifting(candidate.proximity))
            + (added(candidate.ranks, boosts) if boosts and reranked is not None else 0.0),
            reranker=None if reranked is None or ranks_only else base,
            semantic=candidate.scores.get("semantic"),
            keyword=candidate.scores.get("keyword") if shows_keyword else None,
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


def _passed_through(candidates: Sequence[Fused]) -> list[tuple[int, float]]:
    best = max((candidate.score for candidate in candidates), default=0.0)
    shares = [max(candidate.score, 0.0) / best if best > 0 else 1.0 for candidate in candidates]
    return [(index, _LOWEST_PASSTHROUGH + (1 - _LOWEST_PASSTHROUGH) * share) for index, share in enumerate(shares)]


def _judged(reranked: Sequence[tuple[int, float]], count: int) -> list[tuple[int, float]]:
    best = sorted(reranked, key=lambda pair: (-pair[1], pair[0]))
    seen = {index for index, _ in best}
    return best + [(index, 0.0) for index in range(count) if index not in seen]


def _is_over(scores: Scores, floors: MinScores, base: float) -> bool:
    return (floors.reranker is None or base >= floors.reranker) and (
        floors.final is None or scores.final >= floors.final
    )
