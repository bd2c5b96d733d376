"""What answers rest on, read as it is now: memories with what lies beneath them, as far as a caller may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from hindsight_aws.access import DocumentSight, Sight
from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.ports.recall import NO_BOUNDS, TimeFilter

Source = Literal["chunk", "document"]


@dataclass(frozen=True, slots=True)
class MemoriesQuery:
    """Which memories to read: those among `ids` that are in `sight` and were changed within `times`.

    `source` brings the chunk or the document a fact was taken from, where `documents` lets it be seen; `with_evidence`
    the facts that an observation rests on, where the sight lets them be seen.
    """

    bank_id: BankId
    ids: Sequence[UnitId]
    sight: Sight
    documents: DocumentSight
    times: TimeFilter = NO_BOUNDS
    source: Source | None = None
    with_evidence: bool = False


@dataclass(frozen=True, slots=True)
class RestingFact:
    """A fact under an observation, and the words of it that the observation rests on; `origin` as of Quote."""

    id: UnitId
    text: str
    mentioned_at: datetime | None
    quote: str
    origin: str


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory as it is now.

    `source` is the text it was taken from: None where none was asked for or kept, or where it `is_withheld`.  `facts`
    are those visible beneath an observation, oldest first; `hidden` the ids of those that are not.
    """

    id: UnitId
    text: str
    fact_type: str
    context: str | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    document_id: str | None
    chunk_index: int | None
    tags: tuple[str, ...]
    metadata: dict[str, str]
    source: str | None = None
    is_withheld: bool = False
    facts: tuple[RestingFact, ...] = field(default=())
    hidden: frozenset[UnitId] = frozenset()


class EvidenceReads(Protocol):
    """Reads of what answers rest on."""

    def memories(self, query: MemoriesQuery) -> list[FoundMemory]:
        """The memories with what lies beneath them, all as of one moment, in one round trip, in any order."""
        ...
