"""A played case and the register of checks, by the words of `expect`. Used by every module of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.cases.play import Play
    from tests.cases.reading import Case
    from tests.support.world import World


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case that has been played, and where to look."""

    case: Case
    play: Play
    world: World

    @property
    def bank(self) -> str:
        """The bank that expectations without a name speak of: the last one asked."""
        asked = [answer.bank for answer in self.play.answers if answer.bank]
        return asked[-1] if asked else [*self.case.banks, ""][-1]

    @property
    def writes(self) -> str:
        """The bank that was last written to or consolidated."""
        asked = [a.bank for a in self.play.answers if a.do in {"retain", "consolidate", "config"} and a.bank]
        return asked[-1] if asked else self.bank

    def found(self) -> list[dict[str, Any]]:
        """The results of the last recall."""
        body = self.play.last("recall").body
        return list(body["results"]) if body and "results" in body else []


Check = Callable[[Outcome, Any], None]
CHECKS: Final[dict[str, Check]] = {}


def named(*keys: str) -> Callable[[Check], Check]:
    """Registers a check under these words of `expect`."""

    def register(check: Check) -> Check:
        CHECKS.update(dict.fromkeys(keys, check))
        return check

    return register


def includes(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Holds when every wanted entry is found as it is wanted. Raises: AssertionError."""
    wrong = {key: found.get(key, "absent") for key in wanted if found.get(key, "absent") != wanted[key]}
    assert not wrong, f"{wrong} should be {wanted}"
