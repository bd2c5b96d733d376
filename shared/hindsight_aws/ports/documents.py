"""Documents, as retain writes them and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.access import DocumentSight
from hindsight_aws.model.document import SourceFile
from hindsight_aws.model.entity import ResolvedEntity
from hindsight_aws.model.ids import BankId, DocumentId, OperationId, ScopeId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.listing import Page, Window
from hindsight_aws.ports.model_gateway import JsonValue

EventKind = Literal[
    "retain",
    "append",
    "reprocess",
    "retag",
    "fact_edited",
    "fact_invalidated",
    "fact_restored",
    "fact_deleted",
    "observations_cleared",
    "consolidation",
]


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is stored of a document; `text` is None when the bank keeps no texts.

    `version` counts its writes: a write that builds on this one names it.
    """

    document_id: DocumentId
    content_hash: str | None
    text: str | None
    retain_params: Mapping[str, object]
    tags: tuple[str, ...]
    version: int
    next_chunk: int

    @property
    def parts(self) -> tuple[Mapping[str, object], ...]:
        """The items it is made of, as they were retained, but for their texts."""
        parts = self.retain_params.get("parts")
        return tuple(part for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ()


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A stored chunk; `text` is empty where the bank keeps no texts, `part` and `fingerprint` None for old ones."""

    index: int
    part: int | None
    text: str
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to store, with the extraction that made its facts when a model did."""

    chunk_index: int
    part: int
    text: str
    content_hash: str
    fingerprint: str
    extraction: Mapping[str, object] | None
    extraction_key: str | None


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A chunk that stays, with its facts: `former` is the index it has had, `chunk_index` the one it gets.

    `text` None: the text it has stays, if it has any.
    """

    former: int
    chunk_index: int
    part: int
    text: str | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document as it is after a retain.

    `replaces`: what it held before goes, but for the chunks in `kept`.  `appends`: it is added to what it held before.
    Neither: it is new.  `base` is the version it builds on, None for a new one.
    """

    document_id: DocumentId
    external_id: str
    text: str | None
    text_length: int
    content_hash: str
    retain_params: Mapping[str, object]
    tags: tuple[str, ...]
    chunks: Sequence[NewChunk]
    kept: Sequence[KeptChunk]
    replaces: bool
    appends: bool
    kind: EventKind
    base: int | None
    operation_id: OperationId
    facts_added: int


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """One line of a document's history.  `detail` holds what else there is to say: counts and ids."""

    document_id: DocumentId
    kind: EventKind
    operation_id: UUID | None = None
    fact_id: UUID | None = None
    facts_added: int = 0
    facts_removed: int = 0
    observations_removed: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class EventView:
    """A line of a document's history as it is shown; observations as how many, and the ids of some."""

    kind: str
    created_at: datetime
    operation_id: UUID | None
    detail: Mapping[str, object]
    facts_added: int
    facts_removed: int


@dataclass(frozen=True, slots=True)
class ChunkView:
    """A chunk as it is shown; `text` is empty where the bank keeps no texts."""

    document: str
    index: int
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Removed:
    """What went with a document, and whom to wake: scopes whose sources wait again, operations whose turn it is."""

    facts: int
    reopened: Sequence[ScopeId]
    operations: Sequence[OperationId]


@dataclass(frozen=True, slots=True)
class RetainedAs:
    """How a document was retained, as far as the caller said: of several items, the first one's.

    `entities` are names with their types, None where no type was given; `event_date` is the caller's, as it was sent.
    """

    context: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[tuple[str, str | None], ...] = ()
    resolves_entities: bool = True
    observation_scopes: JsonValue = None
    strategy: str | None = None
    event_date: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document; `text` only in its detail.  `matched` says where a search text was found: `id`, `original_text`."""

    external_id: str
    content_hash: str | None
    created_at: datetime
    updated_at: datetime
    text_length: int
    facts_by_type: Mapping[str, int]
    retained: RetainedAs
    tags: tuple[str, ...]
    matched: tuple[str, ...] = ()
    text: str | None = None


class Documents(Protocol):
    """The documents of the transaction's tenant."""

    def stored(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, StoredDocument]:
        """Those of the documents that were retained before."""
        ...

    def extractions(
        self, bank_id: BankId, document_ids: Sequence[DocumentId], keys: Sequence[str]
    ) -> dict[str, Mapping[str, object]]:
        """Kept extractions of the documents' chunks that have one of these keys."""
        ...

    def chunks(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, Sequence[StoredChunk]]:
        """The documents' chunks in order."""
        ...

    def write(
        self, bank_id: BankId, versions: Sequence[DocumentVersion], coming: Sequence[ResolvedEntity] = ()
    ) -> list[ScopeId]:
        """Stores the versions with their chunks and a line of history each.

        Where a version replaces, the former one's facts and chunks are gone but for those of the chunks it keeps, with
        counters, mentions and every observation that rested on them.  A kept chunk's facts follow it to its new place
        and are not otherwise touched.  `coming` are the entities that new facts will mention: they are locked together
        with those that leaving facts name.  Returns the scopes in which other sources of ended observations wait again.

        Raises: WorkRaced when a document is not at the version that is built on.
        """
        ...

    def overwriters(self, lease: Lease) -> set[DocumentId]:
        """Those of the operation's documents that the very next operation on them, not tried yet, is to replace."""
        ...

    def twins(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, Sequence[str]]:
        """Other documents of the same body and the same tags, by some of their names."""
        ...

    def note(self, bank_id: BankId, events: Sequence[DocumentEvent]) -> None:
        """Adds lines to the history of documents that are there."""
        ...

    def events(
        self, bank_id: BankId, sight: DocumentSight, external_id: str, limit: int, offset: int
    ) -> Page[EventView] | None:
        """The history of a document in sight, the latest first, or None."""
        ...

    def chunk_page(
        self, bank_id: BankId, sight: DocumentSight, external_id: str, limit: int, offset: int
    ) -> Page[ChunkView] | None:
        """The chunks, in order, of a document in sight, or None."""
        ...

    def chunk(self, bank_id: BankId, sight: DocumentSight, external_id: str, index: int) -> ChunkView | None:
        """One chunk of a document in sight, or None."""
        ...

    def find(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> StoredDocument | None:
        """A document in sight, as it is now, or None."""
        ...

    def lock(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> StoredDocument | None:
        """A document in sight, kept from change until the transaction ends, or None."""
        ...

    def relabel(
        self, bank_id: BankId, document_id: DocumentId, tags: Sequence[str], retain_params: Mapping[str, object]
    ) -> None:
        """New tags and parameters for a document that is locked."""
        ...

    def remove(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> Removed | None:
        """Takes a document in sight out, with all that came of it; None when there is none.

        Its facts leave as `Memories.remove` says.  Operations that would write it, or have failed to, no longer hold
        its text: those that had nothing else to do are cancelled.
        """
        ...

    def set_files(self, bank_id: BankId, files: Mapping[DocumentId, SourceFile | None]) -> None:
        """Notes which file each document's text was read from, and whether it is kept; None: it came as text.

        A kept file that a document held before is let go of.
        """
        ...

    def page(
        self, bank_id: BankId, sight: DocumentSight, text: str | None, window: Window, limit: int, offset: int
    ) -> Page[DocumentView]:
        """Documents, last updated first; `text` is a case-insensitive substring of id or text."""
        ...

    def view(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> DocumentView | None:
        """One document with its text, or None."""
        ...
