"""Which scopes a draft list of strategies would claim, counted over the scopes that hold observations.

Pure; called by the API.  Answers in the shape clients know; an entry that takes part in nothing takes no scope either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.model.strategy import Strategy, parse_new

MOST_SCOPES = 10_000
"""Scopes a preview reads, those with most observations first."""
_MOST_PATTERNS_TRIED = 1_000_000
"""Patterns times scopes that one preview tries: some seconds' work."""


@dataclass(frozen=True, slots=True)
class CountedScope:
    """A scope and how many observations it holds."""

    tags: tuple[str, ...]
    observations: int


@dataclass(frozen=True, slots=True)
class _Handled:
    """A scope, which rules of each strategy hit it, and the strategy that claims it (None: the bank's own values)."""

    scope: CountedScope
    hits: tuple[tuple[bool, ...], ...]
    winner: int | None


def drafts(value: Sequence[object]) -> tuple[Strategy, ...]:
    """The strategies of a preview request.  Raises InvalidField, as a body of the wrong shape does."""
    try:
        return parse_new(list(value), "strategies")
    except InvalidRequest as wrong:
        field, _, problem = str(wrong).partition(" ")
        raise InvalidField(field.rstrip(":"), problem) from None


def scopes_read(strategies: Sequence[Strategy]) -> int:
    """How many scopes a preview of these strategies reads: MOST_SCOPES, and fewer for hundreds of patterns."""
    patterns = sum(len(rule.tags) + len(rule.none) for strategy in strategies for rule in strategy.rules)
    return max(1, min(MOST_SCOPES, _MOST_PATTERNS_TRIED // max(1, patterns)))


def preview(
    strategies: Sequence[Strategy], scopes: Sequence[CountedScope], sample_limit: int, *, complete: bool
) -> dict[str, object]:
    """Which strategy and rule hit which of the scopes, and which strategy handles each.

    `scopes` come most observations first: samples are the first that a rule hits.  `complete` False: the bank has more
    scopes, and every count is a lower bound.
    """
    handled = [_handled(strategies, scope) for scope in scopes]
    unclaimed = [entry for entry in handled if entry.winner is None]
    return {
        "strategies": [_strategy(strategy, handled, sample_limit) for strategy in strategies],
        "default": {
            "match_count": len(unclaimed),
            "observation_count": sum(entry.scope.observations for entry in unclaimed),
            "samples": _samples(unclaimed, sample_limit),
        },
        "scopes_scanned": len(handled),
        "complete": complete,
    }


def _handled(strategies: Sequence[Strategy], scope: CountedScope) -> _Handled:
    hits = tuple(tuple(rule.matches(scope.tags) for rule in strategy.rules) for strategy in strategies)
    claims = (place for place, strategy in enumerate(strategies) if strategy.is_active and any(hits[place]))
    return _Handled(scope, hits, next(claims, None))


def _strategy(strategy: Strategy, handled: Sequence[_Handled], sample_limit: int) -> dict[str, object]:
    return {
        "active": strategy.is_active,
        "claimed_count": sum(entry.winner == strategy.index for entry in handled),
        "rules": [_rule(strategy, place, handled, sample_limit) for place in range(len(strategy.rules))],
    }


def _rule(strategy: Strategy, place: int, handled: Sequence[_Handled], sample_limit: int) -> dict[str, object]:
    hit = [entry for entry in handled if entry.hits[strategy.index][place]]
    taken = sum(entry.winner != strategy.index for entry in hit) if strategy.is_active else 0
    return {
        "match_count": len(hit),
        "taken_count": taken,
        "observation_count": sum(entry.scope.observations for entry in hit),
        "samples": _samples(hit, sample_limit),
    }


def _samples(entries: Sequence[_Handled], limit: int) -> list[dict[str, object]]:
    return [
        {"tags": list(entry.scope.tags), "count": entry.scope.observations, "handled_by": entry.winner}
        for entry in entries[:limit]
    ]
