"""The directives of one run: frozen when it begins, shown under aliases, and checked against its answer.

Pure; called by the steps, by model_call.py and by answer/.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.text.sanitise import clean

_LONGEST_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Rule:
    """A directive as a run is bound by it; `is_seen` tells whether its caller may read it."""

    id: str
    name: str
    content: str
    is_seen: bool = True


def rules_to_json(rules: Sequence[Rule]) -> list[JsonValue]:
    """The rules for the run's state; `rules_from_json` gives back equal ones."""
    return [{"id": rule.id, "name": rule.name, "content": rule.content, "is_seen": rule.is_seen} for rule in rules]


def rules_from_json(value: JsonValue) -> tuple[Rule, ...]:
    """Reads what `rules_to_json` wrote; a state without them has none."""
    return tuple(
        Rule(str(one["id"]), str(one["name"]), str(one["content"]), one.get("is_seen") is True)
        for one in (value if isinstance(value, list) else [])
        if isinstance(one, dict)
    )


def rules_block(rules: Sequence[Rule]) -> list[JsonValue]:
    """The records of the block `directives`: aliases d1, d2, … in order of importance."""
    return [{"id": alias(place), "name": rule.name, "content": rule.content} for place, rule in enumerate(rules)]


def alias(place: int) -> str:
    """What the directive at this place, from 0, is called towards the model."""
    return f"d{place + 1}"


def check_verdict(said: JsonObject, rules: Sequence[Rule]) -> str | None:
    """None for a readable verdict on these rules, else a sentence that says what is wrong with it."""
    violations = said.get("violations")
    if not isinstance(violations, list):
        return "`violations` must be a list, empty when no directive is broken."
    known = {alias(place) for place in range(len(rules))}
    for violation in violations:
        named = violation.get("directive_id") if isinstance(violation, dict) else None
        if not isinstance(named, str) or named not in known:
            return f"Each violation must name one of the directives {', '.join(sorted(known))} as its `directive_id`."
    return None


def violated(said: JsonObject | None, rules: Sequence[Rule]) -> list[tuple[Rule, str]]:
    """The rules that a verdict finds broken, each once, with its reason."""
    violations = (said or {}).get("violations")
    by_alias = {alias(place): rule for place, rule in enumerate(rules)}
    found: dict[str, tuple[Rule, str]] = {}
    for violation in violations if isinstance(violations, list) else []:
        rule = by_alias.get(str(violation.get("directive_id"))) if isinstance(violation, dict) else None
        if rule is not None and isinstance(violation, dict):
            reason = violation.get("reason")
            found.setdefault(rule.id, (rule, clean(reason)[:_LONGEST_REASON] if isinstance(reason, str) else ""))
    return list(found.values())


def broken_block(said: JsonObject | None, rules: Sequence[Rule]) -> list[JsonValue]:
    """The records of the block `violations` that a rewrite is shown."""
    return [{"content": rule.content, "reason": reason} for rule, reason in violated(said, rules)]
