"""Documents in Postgres.  Called through ports/documents.py; calls sql/documents.sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, DocumentId, ScopeId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.documents import DocumentVersion, DocumentView, StoredDocument
from hindsight_aws.ports.page import Page, Window
from hindsight_aws.store.connection import Row
from hindsight_aws.store.index import PostgresIndex
from hindsight_aws.store.observations import PostgresObservations
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import window_params
from hindsight_aws.store.tag_predicate import predicate_of

_SQL = queries("documents")


class PostgresDocuments:
    """The documents of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def stored(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, StoredDocument]:
        rows = self._session.tuples(_SQL["stored"], bank_id=bank_id, document_ids=list(document_ids))
        return {row[0]: StoredDocument(row[0], row[1], row[2], row[3], tuple(row[4]), row[5]) for row in rows}

    def extractions(
        self, bank_id: BankId, document_ids: Sequence[DocumentId], keys: Sequence[str]
    ) -> dict[str, Mapping[str, object]]:
        rows = self._session.tuples(
            _SQL["extractions"], bank_id=bank_id, document_ids=list(document_ids), keys=list(keys)
        )
        return dict(rows)

    def write(self, bank_id: BankId, versions: Sequence[DocumentVersion]) -> list[ScopeId]:
        if not versions:
            return []
        replaced = sorted(version.document_id for version in versions if version.replaces)
        reopened = self._remove_contents(bank_id, replaced) if replaced else []
        self._session.execute(_SQL["write"], bank_id=bank_id, documents=Jsonb([_document(v) for v in versions]))
        chunks = [chunk for version in versions for chunk in _chunks(version)]
        self._session.execute(_SQL["write_chunks"], bank_id=bank_id, chunks=Jsonb(chunks))
        self._session.execute(
            _SQL["write_revisions"],
            bank_id=bank_id,
            operation_id=versions[0].operation_id,
            revisions=Jsonb([_revision(version) for version in versions]),
        )
        return reopened

    def page(
        self, bank_id: BankId, tags: TagFilter, text: str | None, window: Window, limit: int, offset: int
    ) -> Page[DocumentView]:
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            text=text,
            limit=limit,
            offset=offset,
            **window_params(window),
            **predicate_of(tags).params(),
        )
        return Page([_view(row) for row in rows if row["external_id"] is not None], rows[0]["total"])

    def view(self, bank_id: BankId, tags: TagFilter, external_id: str) -> DocumentView | None:
        row = self._session.row(_SQL["view"], bank_id=bank_id, external_id=external_id, **predicate_of(tags).params())
        return None if row is None else _view(row)

    def _remove_contents(self, bank_id: BankId, document_ids: list[DocumentId]) -> list[ScopeId]:
        """Removes facts and chunks, and what rests on the facts; returns the scopes in which other facts wait again."""
        self._session.tuples(_SQL["lock_documents"], bank_id=bank_id, document_ids=document_ids)
        facts = self._session.tuples(_SQL["lock_facts_of"], bank_id=bank_id, document_ids=document_ids)
        reopened = PostgresObservations(self._session).sweep(bank_id, [row[0] for row in facts]) if facts else []
        self._session.execute(_SQL["uncount_mentions"], bank_id=bank_id, document_ids=document_ids)
        gone = self._session.tuples(_SQL["remove_facts"], bank_id=bank_id, document_ids=document_ids)
        PostgresIndex(self._session).count(bank_id, {row[0]: (-row[1], -row[2]) for row in gone})
        self._session.execute(_SQL["remove_chunks"], bank_id=bank_id, document_ids=document_ids)
        return reopened


def _document(version: DocumentVersion) -> dict[str, object]:
    return {
        "document_id": str(version.document_id),
        "external_id": version.external_id,
        "text": version.text,
        "text_length": version.text_length,
        "content_hash": version.content_hash,
        "retain_params": version.retain_params,
        "tags": version.tags,
    }


def _chunks(version: DocumentVersion) -> list[dict[str, object]]:
    return [
        {
            "document_id": str(version.document_id),
            "chunk_index": chunk.chunk_index,
            "text": chunk.text,
            "content_hash": chunk.content_hash,
            "extraction": chunk.extraction,
            "extraction_key": chunk.extraction_key,
        }
        for chunk in version.chunks
    ]


def _revision(version: DocumentVersion) -> dict[str, object]:
    return {
        "document_id": str(version.document_id),
        "revision_id": str(version.revision_id),
        "kind": "append" if version.appends else "retain",
        "facts_added": version.facts_added,
    }


def _view(row: Row) -> DocumentView:
    counts: Mapping[str, int] = row["facts_by_type"] or {}
    matched = [name for name, column in (("id", "is_in_id"), ("original_text", "is_in_text")) if row.get(column)]
    return DocumentView(
        external_id=row["external_id"],
        content_hash=row["content_hash"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        text_length=row["text_length"],
        facts_by_type=counts,
        retain_params=row["retain_params"],
        tags=tuple(row["tags"]),
        matched=tuple(matched),
        text=row.get("original_text"),
    )
