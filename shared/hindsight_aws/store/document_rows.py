"""Documents as rows hold them, and rows as they are shown.  Used by store/documents.py; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hindsight_aws.model.ids import DocumentId
from hindsight_aws.ports.documents import (
    ChunkView,
    DocumentEvent,
    DocumentVersion,
    DocumentView,
    EventView,
    KeptChunk,
    NewChunk,
    RetainedAs,
)
from hindsight_aws.store.connection import Row

_MOST_NAMED: Final = 100
"""Ids of one kind that a line of history keeps; past it, it only counts."""


def document_view(row: Row) -> DocumentView:
    """A row of `page` or `view`."""
    counts: Mapping[str, int] = row["facts_by_type"] or {}
    matched = [name for name, column in (("id", "is_in_id"), ("original_text", "is_in_text")) if row.get(column)]
    return DocumentView(
        external_id=row["external_id"],
        content_hash=row["content_hash"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        text_length=row["text_length"],
        facts_by_type=counts,
        retained=_retained_as(row["retain_params"]),
        tags=tuple(row["tags"]),
        matched=tuple(matched),
        text=row.get("original_text"),
    )


def _retained_as(params: Mapping[str, Any]) -> RetainedAs:
    """The first of the parts that retain/intake/accepted.py writes."""
    parts = params.get("parts")
    part: Mapping[str, Any] = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], dict) else {}
    types = part.get("entity_types") or {}
    return RetainedAs(
        context=part.get("context"),
        metadata=part.get("metadata") or {},
        entities=tuple((name, types.get(name)) for name in part.get("entities") or ()),
        resolves_entities=part.get("resolve_entities", True),
        observation_scopes=part.get("observation_scopes"),
        strategy=part.get("strategy"),
        event_date=part.get("happened") if part.get("is_dated") else None,
    )


def event_view(row: Row) -> EventView:
    """A row of `events`."""
    return EventView(
        kind=row["kind"],
        created_at=row["created_at"],
        operation_id=row["operation_id"],
        detail=row["detail"],
        facts_added=row["facts_added"],
        facts_removed=row["facts_removed"],
    )


def chunk_view(document: str, row: Row) -> ChunkView:
    """A row of `chunk_page` or `chunk`."""
    return ChunkView(document, row["chunk_index"], row["chunk_text"], row["created_at"])


def document_row(version: DocumentVersion) -> dict[str, object]:
    """A version as `write` takes it."""
    return {
        "document_id": str(version.document_id),
        "external_id": version.external_id,
        "text": version.text,
        "text_length": version.text_length,
        "content_hash": version.content_hash,
        "retain_params": version.retain_params,
        "tags": version.tags,
    }


def chunk_row(document_id: DocumentId, chunk: NewChunk) -> dict[str, object]:
    """A new chunk as `write_chunks` takes it."""
    return {
        "document_id": str(document_id),
        "chunk_index": chunk.chunk_index,
        "part": chunk.part,
        "text": chunk.text,
        "content_hash": chunk.content_hash,
        "fingerprint": chunk.fingerprint,
        "extraction": chunk.extraction,
        "extraction_key": chunk.extraction_key,
    }


def kept_row(document_id: DocumentId, chunk: KeptChunk) -> dict[str, object]:
    """A chunk that stays as `set_kept` takes it."""
    return {
        "document_id": str(document_id),
        "former": chunk.former,
        "chunk_index": chunk.chunk_index,
        "part": chunk.part,
        "fingerprint": chunk.fingerprint,
        "text": chunk.text,
    }


def event_of(version: DocumentVersion, removed: int) -> DocumentEvent:
    """What a document's history says of a write."""
    return DocumentEvent(
        document_id=version.document_id,
        kind=version.kind,
        operation_id=version.operation_id,
        facts_added=version.facts_added,
        facts_removed=removed,
    )


def event_row(event: DocumentEvent) -> dict[str, object]:
    """A line of history as `note` takes it."""
    ended = [str(each) for each in event.observations_removed]
    detail: dict[str, object] = {"observations_removed": {"count": len(ended), "ids": ended[:_MOST_NAMED]}}
    if event.fact_id is not None:
        detail["fact_id"] = str(event.fact_id)
    return {
        "document_id": str(event.document_id),
        "kind": event.kind,
        "operation_id": None if event.operation_id is None else str(event.operation_id),
        "facts_added": event.facts_added,
        "facts_removed": event.facts_removed,
        "detail": detail,
    }
