"""What a save of consolidation settings is warned about: all of it is stored, none of it does what it seems to say.

Pure; called by whoever stores settings: the config routes, and templates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.model.globs import can_match, covers, example
from hindsight_aws.model.strategy import FIELD, ScopeLimit, ScopeRule, Strategy, parse, parse_limits

LIMITS = "observation_scope_limits"
MOST_WARNINGS = 100
_MOST_COMPARED = 300
"""Patterns of a list up to which its entries are compared with each other; a longer one is reviewed entry by entry."""


@dataclass(frozen=True, slots=True)
class Caution:
    """One thing to look at: `field` is where, `code` names the kind, `message` says what happens."""

    field: str
    code: str
    message: str

    def as_json(self) -> dict[str, str]:
        """The warning on the wire."""
        return {"field": self.field, "code": self.code, "message": self.message}


def review(config: BankConfig) -> list[dict[str, str]]:
    """The warnings of a bank's resolved settings, at most MOST_WARNINGS, in the order of the settings.

    Codes: `deprecated`, `draft`, `claims_nothing`, `untagged_not_claimed`, `hidden`, `partly_hidden`,
    `wider_than_limit`.
    """
    limits = parse_limits(None if config.observation_scope_limits is None else list(config.observation_scope_limits))
    value = list(config.consolidation_strategies or ())
    found = _warnings(parse(value), value, limits)
    return [warning.as_json() for warning in islice(found, MOST_WARNINGS)]


def _warnings(
    strategies: Sequence[Strategy], written: Sequence[object], limits: Sequence[ScopeLimit]
) -> Iterator[Caution]:
    if limits:
        yield Caution(
            LIMITS, "deprecated", f"{LIMITS} is deprecated: it is asked only after {FIELD}; move its caps there"
        )
    exactly = {frozenset(limit.globs) for limit in limits}
    patterns = sum(len(rule.tags) + len(rule.none) + 1 for strategy in strategies for rule in strategy.rules)
    for strategy, entry in zip(strategies, written, strict=True):
        where = f"{FIELD}[{strategy.index}]"
        yield from _of_drafts(strategy, entry, where)
        for place, rule in enumerate(strategy.rules):
            yield from _of_rule(rule, f"{where}.scopes[{place}]", exactly)
        if strategy.is_active and patterns <= _MOST_COMPARED:
            yield from _of_order(strategies[: strategy.index], strategy, where)


def _of_drafts(strategy: Strategy, entry: object, where: str) -> Iterator[Caution]:
    mission = entry.get("observations_mission") if isinstance(entry, dict) else None
    if isinstance(mission, str) and not mission.strip():
        yield Caution(f"{where}.observations_mission", "draft", "a blank mission counts as unset")
    if strategy.is_active:
        return
    missing = "no rule with tags" if not any(rule.is_usable for rule in strategy.rules) else "no setting"
    yield Caution(where, "draft", f"this entry has {missing} yet: it is stored and claims nothing")


def _of_rule(rule: ScopeRule, where: str, limits: Collection[frozenset[str]]) -> Iterator[Caution]:
    if not rule.is_usable:
        yield Caution(where, "draft", "this rule has no tags yet: it claims nothing")
        return
    never = next((glob for glob in rule.tags if not can_match(glob)), None)
    if never is not None:
        yield Caution(where, "claims_nothing", f"no tag can match {never!r}: this rule claims nothing")
    excluded = rule.none if len(rule.tags) * len(rule.none) <= _MOST_COMPARED**2 else ()
    shut = next((glob for glob in rule.tags if any(covers(no, glob) for no in excluded)), None)
    if shut is not None:
        yield Caution(
            where, "claims_nothing", f"`none` excludes every tag that {shut!r} matches: this rule claims nothing"
        )
    if set(rule.tags) == {"*"}:
        told = 'no pattern reaches the scope without tags; claim it with {"untagged": true}'
        yield Caution(where, "untagged_not_claimed", told)
    if rule.tags_match == "all" and frozenset(rule.tags) in limits:
        told = (
            f"the same patterns in {LIMITS} match exactly, here further tags are allowed: "
            "add 'tags_match': 'exact' to match as there"
        )
        yield Caution(where, "wider_than_limit", told)


def _of_order(earlier: Sequence[Strategy], strategy: Strategy, where: str) -> Iterator[Caution]:
    rules = [rule for rule in strategy.rules if rule.is_usable]
    before = [(other, rule) for other in earlier if other.is_active for rule in other.rules if rule.is_usable]
    hidden_by = [next((other for other, rule in before if _hides(rule, own)), None) for own in rules]
    if hidden_by and all(other is not None for other in hidden_by):
        names = ", ".join(str(index) for index in sorted({other.index for other in hidden_by if other is not None}))
        yield Caution(where, "hidden", f"earlier entries ({names}) claim every scope that this one matches")
        return
    for own in rules:
        for other, rule in before:
            scope = _shared_scope(rule, own)
            left_unset = [name for name in strategy.settings if name not in other.settings]
            if scope is not None and left_unset:
                told = (
                    f"entry {other.index} comes first for scopes such as {list(scope)}: "
                    f"{', '.join(left_unset)} of this entry does not apply there"
                )
                yield Caution(where, "partly_hidden", told)
                return


def _hides(first: ScopeRule, later: ScopeRule) -> bool:
    """Whether every scope that `later` matches is one that `first` matches; False also where that cannot be shown."""
    if first.untagged or later.untagged:
        return first.untagged and later.untagged
    if not all(any(covers(wide, narrow) for narrow in later.tags) for wide in first.tags):
        return False
    if not all(any(covers(wider, no) for wider in later.none) for no in first.none):
        return False
    if first.tags_match == "all":
        return True
    return later.tags_match == "exact" and all(any(covers(wide, glob) for wide in first.tags) for glob in later.tags)


def _shared_scope(first: ScopeRule, later: ScopeRule) -> tuple[str, ...] | None:
    """A scope that both match, if an easy one exists."""
    if first.untagged or later.untagged:
        return None
    of_first, of_later = ({tag for glob in rule.tags if (tag := example(glob))} for rule in (first, later))
    for tags in (of_later, of_first, of_first | of_later):
        scope = tuple(sorted(tags))
        if first.matches(scope) and later.matches(scope):
            return scope
    return None
