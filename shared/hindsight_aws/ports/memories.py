"""Facts as retain writes them, and memories as they are shown: within a Sight (access.py), never outside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.entity import ResolvedEntity
from hindsight_aws.model.ids import BankId, DocumentId, ScopeId, UnitId
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.listing import Page, Window
from hindsight_aws.ports.model_gateway import Embedding, JsonValue

State = Literal["valid", "invalidated"]
ConsolidationState = Literal["pending", "failed", "done"]


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact ready to be stored.  `term_counts` are its index terms; `cause_ids` are facts of the same write."""

    id: UnitId
    fact_type: str
    document_id: DocumentId
    chunk_index: int
    ordinal: int
    text: str
    context: str | None
    embedding: Embedding
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    metadata: Mapping[str, str]
    tags: tuple[str, ...]
    observation_scopes: JsonValue
    scopes: tuple[Scope, ...]
    entities: tuple[ResolvedEntity, ...]
    term_counts: Mapping[str, int]
    cause_ids: tuple[UnitId, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """What a fact is filtered and consolidated by."""

    tags: tuple[str, ...]
    metadata: Mapping[str, str]
    observation_scopes: JsonValue


@dataclass(frozen=True, slots=True)
class LabelledFact:
    """A fact of a document with its labels; `derived` are the label entities that it names, by name.

    `is_valid` False: it was invalidated, and has no work in any scope.
    """

    id: UnitId
    chunk_index: int
    labels: Labels
    derived: frozenset[str]
    is_valid: bool


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """What memories to list; None asks nothing.  `text` is a case-insensitive substring of text or context.

    `written_by`: provenance that made or last changed it, as RunRecord.provenance names it; empty asks nothing.
    """

    state: State = "valid"
    consolidation: ConsolidationState | None = None
    written_by: Mapping[str, object] = field(default_factory=dict)
    text: str | None = None
    document: str | None = None
    entity: UUID | None = None
    window: Window = field(default_factory=Window)
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory as it is shown."""

    id: UUID
    fact_type: str
    text: str
    context: str | None
    event_date: datetime | None
    mentioned_at: datetime | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    document: str | None
    chunk_index: int | None
    entities: tuple[str, ...]
    proof_count: int
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    observation_scopes: object | None
    consolidated_at: datetime | None
    consolidation_failed_at: datetime | None
    state: State
    invalidation_reason: str | None
    invalidated_at: datetime | None
    edited_at: datetime | None
    updated_at: datetime
    source_ids: tuple[UUID, ...]
    created_by: object | None
    last_by: object | None


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A fact that an observation rests on, with the words it rests on."""

    fact_id: UUID
    quote: str
    origin: str
    text: str
    fact_type: str
    context: str | None
    occurred_start: datetime | None
    mentioned_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScopeState:
    """How a fact stands in one scope; `scope` None: it belongs to none, which is its outcome."""

    scope: tuple[str, ...] | None
    state: str
    outcome: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory with its evidence in sight; `withheld` counts the evidence that is not.

    `scopes`: how a fact stands in each scope in sight.
    """

    memory: MemoryView
    evidence: tuple[EvidenceView, ...]
    withheld: int
    scopes: tuple[ScopeState, ...] = ()


class Memories(Protocol):
    """The memories of the transaction's tenant."""

    def count(self, bank_id: BankId) -> int:
        """Live facts of the bank."""
        ...

    def add(self, bank_id: BankId, embedding_model: str, facts: Sequence[NewFact]) -> None:
        """Stores facts with vectors, terms, tags and counts, in order of their ids; their links are `Links.add`'s."""
        ...

    def remove(self, bank_id: BankId, fact_ids: Sequence[UnitId]) -> list[ScopeId]:
        """Takes facts out, with all that hangs on them: the one way in which facts leave.

        Every observation that rested on one ends, its wording blanked in its revisions; the mentions and the bank's
        counters go down; what loses a neighbour is queued for new links.  Ids that are no facts are passed over.
        Returns the scopes in which those observations' other sources wait again: the caller wakes them.
        """
        ...

    def labelled(self, bank_id: BankId, document_id: DocumentId, chunk_indexes: Sequence[int]) -> list[LabelledFact]:
        """The facts of these chunks, invalidated ones included, kept from change until the transaction ends."""
        ...

    def relabel(self, bank_id: BankId, labels_of: Mapping[UnitId, Labels]) -> None:
        """Other labels for facts that are locked, invalidated or not; their scopes are the caller's to recompute."""
        ...

    def touch_bank(self, bank_id: BankId, embedding_model: str | None) -> None:
        """Notes that the bank was written to, and with a model what its vectors are made of.

        Raises: WorkSuperseded when its vectors were meanwhile made by another model.
        """
        ...

    def page(self, bank_id: BankId, sight: Sight, query: MemoryQuery) -> Page[MemoryView]:
        """Memories by mentioned_at, created_at descending, or by the window's axis descending."""
        ...

    def view(self, bank_id: BankId, sight: Sight, memory_id: UUID) -> MemoryDetail | None:
        """One memory, invalidated ones included, or None."""
        ...
