"""How many there are of something, with or without a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

from tests.cases.checking.outcome import Check, Outcome


def bounded(count: Callable[[Outcome], int], bound: str | None) -> Check:
    """Whether a count is what is wanted, or no less (`_min`) or no more (`_max`)."""

    def check_count(outcome: Outcome, wanted: Any) -> None:
        limit, actual = _number(outcome, wanted), count(outcome)
        is_right = {"_min": actual >= limit, "_max": actual <= limit}.get(bound or "", actual == limit)
        assert is_right, f"there were {actual}, not {(bound or '').strip('_')} {limit}"

    return check_count


def _number(outcome: Outcome, wanted: Any) -> int:
    """A number, or a product of numbers and of quantities by name: "configured attempts x 2 x facts"."""
    if isinstance(wanted, int):
        return wanted
    named = {
        "configured attempts": 3,
        "facts": len(outcome.play.facts.get(outcome.writes, [])),
        "observations": len(outcome.play.observations.get(outcome.writes, [])),
    }
    factors = [part.strip() for part in str(wanted).split(" x ")]
    unknown = [part for part in factors if not part.isdigit() and part not in named]
    assert not unknown, f"no number is called {unknown}"
    return prod(int(part) if part.isdigit() else named[part] for part in factors)


COUNTED: Final[Mapping[str, Callable[[Outcome], int]]] = {
    "observations": lambda outcome: len(listed_observations(outcome)),
    "facts": lambda outcome: len(_facts(outcome)),
    "entities": lambda outcome: len(entity_names(outcome)),
    "recall": lambda outcome: len(outcome.found()),
    "operations": lambda outcome: len(set(outcome.play.operations)),
    "documents": lambda outcome: int(outcome.world.get(outcome.writes, "/documents")["total"]),
}


def _facts(outcome: Outcome) -> list[Any]:
    stored = outcome.world.stored_ids(outcome.writes, observations=False)
    return [identity for identity in stored if identity not in outcome.play.setup_facts]


def listed_observations(outcome: Outcome) -> list[dict[str, Any]]:
    """The observations of the bank last written to, oldest first."""
    return outcome.world.memories(outcome.writes, "observation")


def entity_names(outcome: Outcome) -> list[str]:
    """The names of that bank's entities."""
    return [item["canonical_name"] for item in outcome.world.get(outcome.writes, "/entities", limit="1000")["items"]]
