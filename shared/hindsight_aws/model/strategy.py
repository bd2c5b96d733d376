"""Consolidation strategies: which brief, cap and evidence budget a scope is consolidated under.

Pure.  `parse` is strict and serves every door (bank config, templates, environment, preview); `policy_for` is what the
drain asks.  First match wins, whole: what the winner leaves unset comes from the bank, never from a later strategy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

from hindsight_aws.errors import InvalidRequest

FIELD = "consolidation_strategies"
MOST_STRATEGIES = 500
_ENTRY_KEYS = frozenset(
    {
        "scopes", "observations_mission", "max_observations_per_scope",
        "consolidation_source_facts_max_tokens", "consolidation_source_facts_max_tokens_per_observation",
    }
)  # fmt: skip
Value = TypeVar("Value")
_RULE_KEYS = frozenset({"tags", "tags_match", "untagged", "none"})


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """One alternative of a strategy: globs over a scope's tags.

    `tags_match` "all": every glob matches some tag.  "exact": that, and every tag is matched by some glob.
    `none`: no tag may match any of these.  `untagged`: the rule is for the scope without tags, which no glob reaches.
    """

    tags: tuple[str, ...] = ()
    tags_match: Literal["all", "exact"] = "all"
    none: tuple[str, ...] = ()
    untagged: bool = False

    @property
    def is_usable(self) -> bool:
        """Whether the rule can claim anything: a draft without tags cannot."""
        return self.untagged or bool(self.tags)

    def matches(self, scope: Sequence[str]) -> bool:
        """Whether this rule claims the scope with exactly these tags."""
        if not scope:
            return self.untagged
        if not self.tags or any(fnmatchcase(tag, glob) for tag in scope for glob in self.none):
            return False
        if not all(any(fnmatchcase(tag, glob) for tag in scope) for glob in self.tags):
            return False
        return self.tags_match == "all" or all(any(fnmatchcase(tag, glob) for glob in self.tags) for tag in scope)


@dataclass(frozen=True, slots=True)
class Strategy:
    """One entry of the list, at its position; what it leaves unset is None."""

    index: int
    rules: tuple[ScopeRule, ...]
    mission: str | None = None
    max_observations: int | None = None
    source_facts_max_tokens: int | None = None
    source_facts_max_tokens_per_observation: int | None = None

    @property
    def is_active(self) -> bool:
        """Whether the entry takes part: one without a usable rule, or that sets nothing, neither claims nor blocks."""
        return any(rule.is_usable for rule in self.rules) and bool(self.settings)

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the settings it sets, as they are written."""
        return tuple(name for name, value in self._values.items() if value is not None)

    @property
    def numbers(self) -> Mapping[str, int]:
        """The cap and the budgets that it sets, by their names."""
        return {name: value for name, value in self._values.items() if isinstance(value, int)}

    @property
    def _values(self) -> Mapping[str, str | int | None]:
        return {
            "observations_mission": self.mission,
            "max_observations_per_scope": self.max_observations,
            "consolidation_source_facts_max_tokens": self.source_facts_max_tokens,
            "consolidation_source_facts_max_tokens_per_observation": self.source_facts_max_tokens_per_observation,
        }

    @property
    def name(self) -> str:
        """How people refer to it: `strategy 2: company:*` (its first rule's globs)."""
        first = next((rule for rule in self.rules if rule.is_usable), None)
        label = "untagged" if first is not None and first.untagged else ", ".join(first.tags) if first else "draft"
        return f"strategy {self.index + 1}: {label}"

    def claims(self, scope: Sequence[str]) -> bool:
        """Whether any of its rules matches the scope."""
        return self.is_active and any(rule.matches(scope) for rule in self.rules)


@dataclass(frozen=True, slots=True)
class ScopeLimit:
    """A rule of the deprecated `observation_scope_limits`: exact cover by globs → cap."""

    globs: tuple[str, ...]
    limit: int

    def matches(self, scope: Sequence[str]) -> bool:
        return ScopeRule(self.globs, "exact").matches(scope)


@dataclass(frozen=True, slots=True)
class BankPolicy:
    """The bank-wide values, which apply wherever no strategy says otherwise."""

    mission: str | None
    max_observations: int
    source_facts_max_tokens: int
    source_facts_max_tokens_per_observation: int
    limits: tuple[ScopeLimit, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """What one scope is consolidated under.  `max_observations` below zero means without a cap."""

    mission: str | None
    max_observations: int
    source_facts_max_tokens: int
    source_facts_max_tokens_per_observation: int
    strategy_index: int | None
    strategy_name: str

    @property
    def hash(self) -> str:
        """Digest of all that shapes the scope's observations; where it comes from is not part of it."""
        parts = (
            self.mission,
            self.max_observations,
            self.source_facts_max_tokens,
            self.source_facts_max_tokens_per_observation,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def brief_hash(self) -> str:
        """Digest of the mission alone: what decides whether observations written before still may stand.

        A cap and token budgets bound what is added, and say nothing of the wording that is there.
        """
        return hashlib.sha256(json.dumps(self.mission).encode()).hexdigest()


def policy_for(scope: Sequence[str], strategies: Sequence[Strategy], bank: BankPolicy) -> Policy:
    """The policy of the scope with exactly these tags: the first claiming strategy's values, then the bank's.

    The cap alone has a step between: winner → `observation_scope_limits` → bank.
    """
    winner = next((strategy for strategy in strategies if strategy.claims(scope)), None)
    return Policy(
        mission=_first(winner.mission if winner else None, bank.mission),
        max_observations=_cap(scope, winner, bank),
        source_facts_max_tokens=_first(
            winner.source_facts_max_tokens if winner else None, bank.source_facts_max_tokens
        ),
        source_facts_max_tokens_per_observation=_first(
            winner.source_facts_max_tokens_per_observation if winner else None,
            bank.source_facts_max_tokens_per_observation,
        ),
        strategy_index=winner.index if winner else None,
        strategy_name=winner.name if winner else "default",
    )


def parse(value: object, name: str = FIELD) -> tuple[Strategy, ...]:
    """The strategies in `value` (a JSON list or null), each at its position, drafts included.

    `name` is what the caller calls it.

    Raises: InvalidRequest naming the entry and the key, for any wrong shape or type; integers must be integers.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidRequest(f"{name} must be a list")
    return tuple(_strategy(index, entry, f"{name}[{index}]") for index, entry in enumerate(value))


def parse_new(value: object, name: str = FIELD) -> tuple[Strategy, ...]:
    """As `parse`, for what somebody wants stored or tried: also bounded, as the bank's own fields are.

    What was stored before there were bounds is still read by `parse`.
    """
    strategies = parse(value, name)
    if len(strategies) > MOST_STRATEGIES:
        raise InvalidRequest(f"{name} must have at most {MOST_STRATEGIES} entries, got {len(strategies)}")
    for strategy in strategies:
        for key, number in strategy.numbers.items():
            if not -1 <= number < 2**31:
                raise InvalidRequest(
                    f"{name}[{strategy.index}].{key} must be an integer of at least -1 and at most 32 bits, "
                    f"got {str(number)[:20]}"
                )
    return strategies


def parse_limits(value: object) -> tuple[ScopeLimit, ...]:
    """The usable rules of `observation_scope_limits`; malformed ones are skipped, as they always were."""
    if not isinstance(value, list):
        return ()
    return tuple(
        ScopeLimit(tuple(rule["scope"]), rule["limit"])
        for rule in value
        if isinstance(rule, dict)
        and isinstance(rule.get("scope"), list)
        and rule["scope"]
        and all(isinstance(glob, str) for glob in rule["scope"])
        and type(rule.get("limit")) is int
    )


def _cap(scope: Sequence[str], winner: Strategy | None, bank: BankPolicy) -> int:
    if winner is not None and winner.max_observations is not None:
        return winner.max_observations
    return next((rule.limit for rule in bank.limits if rule.matches(scope)), bank.max_observations)


def _first(chosen: Value | None, otherwise: Value) -> Value:
    return otherwise if chosen is None else chosen


def _strategy(index: int, entry: object, where: str) -> Strategy:
    checked = _object(entry, where, _ENTRY_KEYS)
    mission = checked.get("observations_mission")
    if mission is not None and not isinstance(mission, str):
        raise InvalidRequest(f"{where}.observations_mission must be a string")
    rules = checked.get("scopes")
    if rules is not None and not isinstance(rules, list):
        raise InvalidRequest(f"{where}.scopes must be a list")
    return Strategy(
        index=index,
        rules=tuple(_rule(rule, f"{where}.scopes[{position}]") for position, rule in enumerate(rules or [])),
        mission=mission if mission and mission.strip() else None,
        max_observations=_integer(checked, "max_observations_per_scope", where),
        source_facts_max_tokens=_integer(checked, "consolidation_source_facts_max_tokens", where),
        source_facts_max_tokens_per_observation=_integer(
            checked, "consolidation_source_facts_max_tokens_per_observation", where
        ),
    )


def _rule(value: object, where: str) -> ScopeRule:
    checked = _object(value, where, _RULE_KEYS)
    match = checked.get("tags_match")
    if match not in (None, "all", "exact"):
        raise InvalidRequest(f"{where}.tags_match must be 'all' or 'exact'")
    untagged = checked.get("untagged")
    if untagged is not None and not isinstance(untagged, bool):
        raise InvalidRequest(f"{where}.untagged must be true or false")
    tags = _globs(checked, "tags", where)
    none = _globs(checked, "none", where)
    if untagged and (tags or none):
        raise InvalidRequest(f"{where}: an untagged rule takes neither tags nor none")
    return ScopeRule(tags, "exact" if match == "exact" else "all", none, bool(untagged))


def _globs(rule: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    """The non-empty globs under `key`; an empty string is a draft and left out."""
    value = rule.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(glob, str) for glob in value):
        raise InvalidRequest(f"{where}.{key} must be a list of strings")
    return tuple(glob for glob in value if glob)


def _object(value: object, where: str, known: frozenset[str]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"{where} must be an object")
    unknown = sorted(str(key) for key in value if key not in known)
    if unknown:
        raise InvalidRequest(f"{where} has unknown key {unknown[0]!r}; known keys: {', '.join(sorted(known))}")
    return value


def _integer(entry: Mapping[str, object], key: str, where: str) -> int | None:
    value = entry.get(key)
    if value is not None and type(value) is not int:
        raise InvalidRequest(f"{where}.{key} must be an integer")
    return value
