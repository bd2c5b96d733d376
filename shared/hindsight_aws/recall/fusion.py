"""One ranking from the arms' rankings.  Called by ranking.py, retrieval.py and together.py; pure.

By relative scores (Bruch, Gai and Ingber 2023), not by ranks alone: on dialogue, where words find much and vectors
little, equal votes by rank came out below the keyword arm by itself (recall@10 0.61 against 0.64), this above (0.70).
docs/howto/recall.md tells what was tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.recall import Hits

# Cormack, Clarke and Buettcher 2009; shown in traces beside the score that decides.
RANK_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class Arm:
    """How an arm's scores count: `weight` for its best hit, less in proportion down to nothing at `nothing`."""

    weight: float
    nothing: float


# Two texts that have nothing to do with each other still have some cosine; no shared word is no keyword score at all.
ARMS: Mapping[str, Arm] = {
    "semantic": Arm(weight=0.4, nothing=0.15),
    "keyword": Arm(weight=0.6, nothing=0.0),
    # What only entities or links lead to comes after all that the question itself found.  Any say in the order made it
    # worse on dialogue, where whatever is alike is linked: recall@10 fell from 0.698 to 0.695, 0.665 and 0.621 at 0.05,
    # 0.1 and 0.2.
    "graph": Arm(weight=0.0, nothing=0.0),
    # Enough to bring what only its date speaks for past the tail of the others: where questions name a time, recall@20
    # rose from 0.85 to 0.95.  At 0.15 and more it took first places from better hits (MRR 0.484 to 0.454).
    "temporal": Arm(weight=0.1, nothing=0.0),
}


@dataclass(slots=True)
class Fused:
    """A candidate with what every arm said of it: its score and its rank there, 1 being best.

    `proximity` is how near it is to the middle of the time asked about, None when that was not looked at; `is_in_time`
    whether it happened or was told of in that time.
    """

    id: UnitId
    score: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    proximity: float | None = None
    is_in_time: bool = False

    @property
    def reciprocal_rank(self) -> float:
        """The sum over arms of 1 / (60 + rank): what fusion by rank alone would go by."""
        return sum(1 / (RANK_CONSTANT + rank) for rank in self.ranks.values())


def joined(by_type: Mapping[str, Hits] | None, fact_types: Iterable[str]) -> Hits:
    """One arm's hits of all types, best first; equal scores keep the order of the types, then of the arm."""
    hits = [hit for fact_type in fact_types for hit in (by_type or {}).get(fact_type, ())]
    return sorted(hits, key=lambda hit: -hit[1])


def fuse(
    arms: Mapping[str, Sequence[tuple[UnitId, float]]], proximity: Mapping[UnitId, float] | None = None
) -> list[Fused]:
    """The candidates of all arms, best first, each once with every arm's score and rank, and its proximity in time.

    An arm adds its weight times the hit's place between nothing and the arm's best score.  Equal scores are ordered by
    the best rank in any arm that has a weight, what none of those found coming last, then by id: the same candidates
    always come in the same order, and an arm without a weight moves nothing that another found.
    """
    near = proximity or {}
    fused: dict[UnitId, Fused] = {}
    for name, hits in arms.items():
        if not hits:
            continue
        arm = ARMS[name]
        span = hits[0][1] - arm.nothing
        per_point = arm.weight / span if span > 0 else 0.0
        for rank, (unit_id, score) in enumerate(hits, 1):
            candidate = fused.get(unit_id)
            if candidate is None:
                candidate = fused[unit_id] = Fused(unit_id, proximity=near.get(unit_id))
            candidate.score += max(score - arm.nothing, 0.0) * per_point
            candidate.scores[name] = score
            candidate.ranks[name] = rank
    return sorted(fused.values(), key=lambda of: (-of.score, *_best_rank(of), of.id))


def is_full(found: Iterable[Hits], most: int) -> bool:
    """Whether arms with a weight found as many candidates as are ranked at all: then one without adds nothing."""
    seen: set[UnitId] = set()
    for hits in found:
        seen.update(unit_id for unit_id, _ in hits)
    return len(seen) >= most


def _best_rank(candidate: Fused) -> tuple[bool, int]:
    weighty = [rank for name, rank in candidate.ranks.items() if ARMS[name].weight]
    return (False, min(weighty)) if weighty else (True, min(candidate.ranks.values(), default=0))
