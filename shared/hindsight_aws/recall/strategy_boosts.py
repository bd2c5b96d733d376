"""What an operator adds to what some arms find: `recall_strategy_boosts`, an arm's name with a level.

Called by recall/{retrieval,ranking}.py; pure.  In the space of ranks, where no arm's scale outweighs another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_aws.recall.fusion import RANK_CONSTANT, Fused

_DIVISORS: Final[Mapping[str, int]] = {"low": 2, "medium": 4, "high": 8}
_ADDED: Final[Mapping[str, float]] = {"low": 0.05, "medium": 0.2, "high": 0.5}
# Ranks of the temporal arm tell how near the middle of a window something is, and nothing of how well it fits.
_FLAT: Final = "temporal"


def kept(candidates: Sequence[Fused], boosts: Mapping[str, str], most: int) -> list[Fused]:
    """At most so many of the candidates, given best first, in their order.

    Where there are more and an arm is boosted, those are kept whose reciprocal ranks come to most, the ranks of a
    boosted arm divided by 2, 4 or 8.
    """
    if len(candidates) <= most or not boosts:
        return list(candidates[:most])
    wanted = sorted(candidates, key=lambda candidate: -_reciprocal_rank(candidate, boosts))[:most]
    ids = {candidate.id for candidate in wanted}
    return [candidate for candidate in candidates if candidate.id in ids]


def added(ranks: Mapping[str, int], boosts: Mapping[str, str]) -> float:
    """What a candidate's ranks in boosted arms add to the weight that a rerank model gave it: most for a first rank."""
    return sum(_added(arm, boosts[arm], rank) for arm, rank in ranks.items() if arm in boosts)


def _reciprocal_rank(candidate: Fused, boosts: Mapping[str, str]) -> float:
    return sum(
        1 / (RANK_CONSTANT + rank / (_DIVISORS[boosts[arm]] if arm in boosts else 1))
        for arm, rank in candidate.ranks.items()
    )


def _added(arm: str, level: str, rank: int) -> float:
    divisor = _DIVISORS[level]
    return _ADDED[level] if arm == _FLAT else _ADDED[level] * divisor / (divisor + rank - 1)
