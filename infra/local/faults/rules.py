"""Decides what happens at a named point; pure, no I/O. Called by the fault server."""

from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase


class Action(StrEnum):
    """What the process that reached a point is to suffer."""

    CONTINUE = "continue"
    KILL = "kill"
    PAUSE = "pause"
    CUT = "cut"
    RAISE = "raise"


@dataclass(slots=True)
class Rule:
    """Strikes from the `nth` matching hit on, `times` times. `point` is a glob; no `function` means any.

    `seconds` bounds a pause, which ends earlier when it is released.
    """

    point: str
    action: Action
    nth: int = 1
    times: int = 1
    function: str | None = None
    seconds: float = 30.0
    seen: int = field(default=0, init=False)

    def strikes(self, point: str, function: str) -> bool:
        """Counts a hit that matches and says whether it is one to strike at."""
        if not fnmatchcase(point, self.point) or self.function not in {None, function}:
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


@dataclass(frozen=True, slots=True)
class Hit:
    """A point that was reached, by whom, and what came of it."""

    point: str
    function: str
    pid: int
    action: Action


class FaultRules:
    """The rules in force and the hits so far; the first rule that strikes decides."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.hits: list[Hit] = []

    def decide(self, point: str, function: str, pid: int) -> Rule:
        """Records a hit and returns the rule to apply, a CONTINUE one when none strikes. Every rule counts the hit."""
        striking = [rule for rule in self.rules if rule.strikes(point, function)]
        decided = striking[0] if striking else Rule(point, Action.CONTINUE)
        self.hits.append(Hit(point, function, pid, decided.action))
        return decided

    def clear(self) -> None:
        """Forgets rules and hits."""
        self.rules.clear()
        self.hits.clear()
