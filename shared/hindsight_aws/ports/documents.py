"""Documents, as retain writes them and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, DocumentId, OperationId, ScopeId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.page import Page, Window


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is stored of a document; `text` is None when the bank keeps no texts."""

    document_id: DocumentId
    content_hash: str | None
    text: str | None
    retain_params: Mapping[str, object]
    tags: tuple[str, ...]
    next_chunk: int


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to store, with the extraction that made its facts when a model did."""

    chunk_index: int
    text: str
    content_hash: str
    extraction: Mapping[str, object] | None
    extraction_key: str | None


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document as it is after a retain.

    `replaces`: what it held before goes.  `appends`: it is added to what it held before.  Neither: it is new.
    """

    document_id: DocumentId
    external_id: str
    text: str | None
    text_length: int
    content_hash: str
    retain_params: Mapping[str, object]
    tags: tuple[str, ...]
    chunks: Sequence[NewChunk]
    replaces: bool
    appends: bool
    operation_id: OperationId
    revision_id: UUID
    facts_added: int


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document; `text` only in its detail.  `matched` says where a search text was found: `id`, `original_text`."""

    external_id: str
    content_hash: str | None
    created_at: datetime
    updated_at: datetime
    text_length: int
    facts_by_type: Mapping[str, int]
    retain_params: Mapping[str, object]
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

    def write(self, bank_id: BankId, versions: Sequence[DocumentVersion]) -> list[ScopeId]:
        """Stores the versions with their chunks and a revision each.

        Where a version replaces, the facts and chunks of the former one are gone, with counters, mentions and every
        observation that rested on them.  Returns the scopes in which those observations' other sources wait again.
        """
        ...

    def page(
        self, bank_id: BankId, tags: TagFilter, text: str | None, window: Window, limit: int, offset: int
    ) -> Page[DocumentView]:
        """Documents, last updated first; `text` is a case-insensitive substring of id or text."""
        ...

    def view(self, bank_id: BankId, tags: TagFilter, external_id: str) -> DocumentView | None:
        """One document with its text, or None."""
        ...
