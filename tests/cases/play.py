"""What came of a case's steps: filled by the player, read by the checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from tests.cases.scripting import Resolve
from tests.support.world import Answer


@dataclass
class Play:
    """What happened: the checks read it."""

    answers: list[Answer] = field(default_factory=list)
    operations: list[tuple[str, str]] = field(default_factory=list)
    consolidated_after: list[dict[str, int]] = field(default_factory=list)
    batch_failures: list[list[str]] = field(default_factory=list)
    facts: dict[str, list[UUID]] = field(default_factory=dict)
    observations: dict[str, list[UUID]] = field(default_factory=dict)
    setup_facts: set[UUID] = field(default_factory=set)
    contents: dict[str, list[str]] = field(default_factory=dict)
    contexts: list[str] = field(default_factory=list)
    connects: int = 0

    def last(self, do: str) -> Answer:
        """The last answer to a step of that kind."""
        found = [answer for answer in self.answers if answer.do == do]
        assert found, f"the case has no step {do!r} to look at"
        return found[-1]

    def resolver(self, bank: str | None) -> Resolve:
        """Resolves `$F1` and `$O1` within a bank; a number beyond what it holds counts through all banks."""

        def resolve(kind: str, number: int) -> str | None:
            held = self.facts if kind == "F" else self.observations
            own = held.get(bank or "", [])
            every = [identity for known in held.values() for identity in known]
            pool = own if number <= len(own) else every
            return str(pool[number - 1]) if 0 < number <= len(pool) else None

        return resolve
