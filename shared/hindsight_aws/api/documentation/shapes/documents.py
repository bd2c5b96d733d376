"""Documents, their chunks and their history."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.consolidation import ObservationIdSample
from hindsight_aws.api.documentation.shapes.memories import ChunkAttachment


class DocumentListItem(TypedDict):
    """A document as lists show it."""

    id: str
    bank_id: NotRequired[str]
    content_hash: NotRequired[str | None]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    text_length: NotRequired[int]
    memory_unit_count: NotRequired[int]
    retain_params: NotRequired[dict[str, object] | None]
    document_metadata: NotRequired[dict[str, object] | None]
    tags: NotRequired[list[str]]
    matched_fields: NotRequired[list[Literal["id", "original_text"]]]


class ListDocumentsResponse(TypedDict):
    """One page of documents."""

    items: list[DocumentListItem]
    total: int
    limit: int
    offset: int
    total_is_estimate: NotRequired[bool]


class DocumentResponse(TypedDict):
    """A document with its text."""

    id: str
    bank_id: str
    original_text: str | None
    content_hash: str | None
    created_at: str
    updated_at: str
    memory_unit_count: int
    nodes_by_fact_type: NotRequired[dict[str, int] | None]
    tags: NotRequired[list[str]]
    document_metadata: NotRequired[dict[str, object] | None]
    retain_params: NotRequired[dict[str, object] | None]
    observation_scopes: NotRequired[str | list[list[str]] | None]
    attachments: NotRequired[list[ChunkAttachment] | None]


DocumentEventKind = str
"""What happened to a document."""


class DocumentEvent(TypedDict):
    """One thing that happened to a document."""

    document_id: str
    kind: DocumentEventKind
    created_at: NotRequired[str]
    operation_id: NotRequired[str | None]
    fact_id: NotRequired[str | None]
    facts_added: NotRequired[int]
    facts_removed: NotRequired[int]
    observations_created: NotRequired[ObservationIdSample]
    observations_updated: NotRequired[ObservationIdSample]
    observations_removed: NotRequired[ObservationIdSample]


class DocumentHistoryResponse(TypedDict):
    """What happened to a document, in order."""

    document_id: str
    total: int
    limit: int
    offset: int
    items: list[DocumentEvent]


class ChunkResponse(TypedDict):
    """A piece of a document."""

    chunk_id: str
    document_id: str
    bank_id: str
    chunk_index: int
    chunk_text: str
    created_at: str
    attachments: NotRequired[list[ChunkAttachment] | None]


class ListChunksResponse(TypedDict):
    """One page of a document's pieces."""

    items: list[ChunkResponse]
    total: int
    limit: int
    offset: int


class UpdateDocumentResponse(TypedDict):
    """That the document was changed."""

    success: NotRequired[bool]


class DeleteDocumentResponse(TypedDict):
    """That the document is gone, and how many memories with it."""

    success: bool
    message: str
    document_id: str
    memory_units_deleted: int


class ReprocessDocumentResponse(TypedDict):
    """The operation that reads the document again."""

    success: bool
    operation_id: str
    items_count: int
