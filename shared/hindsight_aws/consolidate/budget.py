"""How much of the related observations and their sources one call is shown.  Pure; called by the drain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from hindsight_aws.model.plan import ShownEvidence, ShownObservation
from hindsight_aws.text.tokens import count_tokens

_ALWAYS_SHOWN = 2


def pool(related: Sequence[Sequence[UUID]], tokens: dict[UUID, int], per_fact: int) -> list[UUID]:
    """The observations to show, each once: for each fact in turn its best.

    Those of one fact take up to `per_fact` tokens of text.  Its first two, the best by either way of looking, are shown
    whatever their length: an identical twin is one of them.
    """
    chosen: dict[UUID, None] = {}
    for ranked in related:
        left = per_fact
        for place, observation_id in enumerate(ranked):
            cost = tokens.get(observation_id)
            if cost is None or (cost > left and place >= _ALWAYS_SHOWN):
                continue
            left -= cost
            chosen.setdefault(observation_id)
    return list(chosen)


def within(observations: Sequence[ShownObservation], total: int, per_observation: int) -> list[ShownObservation]:
    """The same observations with as many sources as the budgets (tokens of source text) allow.

    `per_observation` at or above zero: each has that budget of its own and `total` is not used.  Below zero: all share
    `total`, filled in
    order; `total` below zero is without bound.  A source that does not fit is passed over, and smaller ones after it
    still count.
    """
    shared = _Budget(total)
    fitted = []
    for observation in observations:
        budget = _Budget(per_observation) if per_observation >= 0 else shared
        fitted.append(replace(observation, evidence=tuple(e for e in observation.evidence if budget.takes(e))))
    return fitted


class _Budget:
    """Tokens left; below zero at the start means without bound."""

    def __init__(self, tokens: int) -> None:
        self._left = tokens
        self._is_bounded = tokens >= 0

    def takes(self, source: ShownEvidence) -> bool:
        if not self._is_bounded:
            return True
        cost = count_tokens(source.text)
        if cost > self._left:
            return False
        self._left -= cost
        return True
