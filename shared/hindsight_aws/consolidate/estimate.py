"""What a rebuild would do and cost, estimated from what is there.  Pure; called by consolidate/rebuild.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.rebuilds import CallCost, WrittenScope


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is expected of one scope or of all.

    `created`, `rewritten`, `removed`: observations expected to be new, to take a present one's place, and to have no
    heir; the latter two together are all that is there now.  `usd` None: what a call costs is not known.
    """

    facts: int = 0
    observations: int = 0
    model_calls: int = 0
    created: int = 0
    rewritten: int = 0
    removed: int = 0
    usd: Decimal | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ScopeEstimate:
    """What is expected of one scope; `is_outdated`: what is there was written under another mission."""

    tags: tuple[str, ...]
    strategy_name: str
    is_outdated: bool
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is expected of a rebuild, scope by scope and in all."""

    scopes: tuple[ScopeEstimate, ...]
    total: Numbers


def estimate(scopes: Sequence[tuple[WrittenScope, Policy]], cost: CallCost, batch_size: int) -> Estimate:
    """The estimate for these scopes under these policies.

    Calls: one for each full batch of facts; questions about near-duplicates and second looks come on top.
    Observations: as many as there are, or one for each fact where there is none yet, within the cap.
    """
    each = tuple(
        ScopeEstimate(
            scope.tags,
            policy.strategy_name,
            scope.is_outdated(policy.brief_hash),
            _numbers(scope, policy, cost, max(1, batch_size)),
        )
        for scope, policy in scopes
    )
    return Estimate(each, _sum([scope.numbers for scope in each], cost))


def _numbers(scope: WrittenScope, policy: Policy, cost: CallCost, batch_size: int) -> Numbers:
    expected = scope.observations or scope.facts
    if policy.max_observations >= 0:
        expected = min(expected, policy.max_observations)
    rewritten = min(scope.observations, expected)
    calls = ceil(scope.facts / batch_size)
    return Numbers(
        facts=scope.facts,
        observations=scope.observations,
        model_calls=calls,
        created=expected - rewritten,
        rewritten=rewritten,
        removed=scope.observations - rewritten,
        usd=None if cost.usd is None else cost.usd * calls,
        input_tokens=None if cost.input_tokens is None else cost.input_tokens * calls,
        output_tokens=None if cost.output_tokens is None else cost.output_tokens * calls,
    )


def _sum(numbers: Sequence[Numbers], cost: CallCost) -> Numbers:
    calls = sum(n.model_calls for n in numbers)
    return Numbers(
        facts=sum(n.facts for n in numbers),
        observations=sum(n.observations for n in numbers),
        model_calls=calls,
        created=sum(n.created for n in numbers),
        rewritten=sum(n.rewritten for n in numbers),
        removed=sum(n.removed for n in numbers),
        usd=None if cost.usd is None else cost.usd * calls,
        input_tokens=None if cost.input_tokens is None else cost.input_tokens * calls,
        output_tokens=None if cost.output_tokens is None else cost.output_tokens * calls,
    )
