"""What recall asks of the store about a past moment: words that stand no more, rows as they were, and their support."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.model.recalled import Quote, RecalledUnit
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import TimeFilter


@dataclass(frozen=True, slots=True)
class PastQuery:
    """Which memories of a past moment, `times.as_of`: of these types, and passing the filters.

    `at_most` bounds the facts, and the observations, whose words are read; the latest come first.
    """

    bank_id: BankId
    fact_types: frozenset[str]
    tags: TagFilter
    times: TimeFilter
    at_most: int = 5_000


@dataclass(frozen=True, slots=True)
class Wording:
    """Words that a memory had and has no more; `similarity` None where the store keeps no vector of them."""

    id: UnitId
    fact_type: str
    text: str
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Then:
    """Memories as they were: their rows, and of each observation the revision that was current."""

    units: Mapping[UnitId, RecalledUnit]
    revisions: Mapping[UnitId, UUID]


@dataclass(frozen=True, slots=True)
class Support:
    """What observations rested on: the visible facts of each by id, their quotes, and how many are not visible."""

    sources_of: Mapping[UnitId, tuple[UnitId, ...]]
    quotes_of: Mapping[UnitId, tuple[Quote, ...]]
    hidden: int


class PastReads(Protocol):
    """Reads of what was believed at a past moment; every method is one round trip.

    What was deleted, blanked or sealed since is in none of them, nor is any generation of a scope before its last.
    """

    def wordings(self, query: PastQuery, vector: array[float] | None) -> Sequence[Wording]:
        """The words of then that are no longer current: of facts out of use, of observations since reworded or ended.

        No more than `at_most` of facts and as many of observations.
        """
        ...

    def units(self, query: PastQuery, ids: Sequence[UnitId]) -> Then:
        """These memories as they were then, if they were believed and pass: the last gate."""
        ...

    def support(
        self, query: PastQuery, revisions: Mapping[UnitId, UUID], source_types: frozenset[str], source_tags: TagFilter
    ) -> Support:
        """What observations rested on, by the revisions current then; a fact is visible by its type and its tags."""
        ...
