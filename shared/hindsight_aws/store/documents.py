"""Documents in Postgres.  Called through ports/documents.py; calls sql/documents.sql, store/memories.py for facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.access import DocumentSight
from hindsight_aws.errors import WorkRaced
from hindsight_aws.model.document import SourceFile
from hindsight_aws.model.entity import ResolvedEntity
from hindsight_aws.model.ids import BankId, DocumentId, ScopeId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.documents import (
    ChunkView,
    DocumentEvent,
    DocumentVersion,
    DocumentView,
    EventView,
    Removed,
    StoredChunk,
    StoredDocument,
)
from hindsight_aws.ports.listing import Page, Window
from hindsight_aws.store.document_removal import remove_document
from hindsight_aws.store.document_rows import (
    chunk_row,
    chunk_view,
    document_row,
    document_view,
    event_of,
    event_row,
    event_view,
    kept_row,
)
from hindsight_aws.store.entities import PostgresEntities
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.memories import PostgresMemories
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import document_params, window_params

_SQL = queries("documents")

_MOST_PER_STATEMENT: Final = 1_000
_MOST_TWINS: Final = 5


class PostgresDocuments:
    """The documents of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def stored(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, StoredDocument]:
        rows = self._session.tuples(_SQL["stored"], bank_id=bank_id, document_ids=list(document_ids))
        return {
            DocumentId(row[0]): StoredDocument(
                DocumentId(row[0]), row[1], row[2], row[3], tuple(row[4]), row[5], row[6]
            )
            for row in rows
        }

    def chunks(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, Sequence[StoredChunk]]:
        found: defaultdict[DocumentId, list[StoredChunk]] = defaultdict(list)
        for row in self._session.tuples(_SQL["chunks"], bank_id=bank_id, document_ids=list(document_ids)):
            found[DocumentId(row[0])].append(StoredChunk(*row[1:]))
        return dict(found)

    def extractions(
        self, bank_id: BankId, document_ids: Sequence[DocumentId], keys: Sequence[str]
    ) -> dict[str, Mapping[str, object]]:
        rows = self._session.tuples(
            _SQL["extractions"], bank_id=bank_id, document_ids=list(document_ids), keys=list(keys)
        )
        return dict(rows)

    def overwriters(self, lease: Lease) -> set[DocumentId]:
        rows = self._session.tuples(
            _SQL["overwriters"],
            bank_id=lease.bank_id,
            operation_id=lease.operation_id,
            kind=lease.kind,
            created_at=lease.created_at,
            document_ids=list(lease.document_ids),
        )
        return {DocumentId(row[0]) for row in rows}

    def write(
        self, bank_id: BankId, versions: Sequence[DocumentVersion], coming: Sequence[ResolvedEntity] = ()
    ) -> list[ScopeId]:
        if not versions:
            return []
        self._require_bases(bank_id, versions)
        replacing = [version for version in versions if version.replaces]
        reopened, removed = (
            self._remove_former(bank_id, replacing, coming) if replacing else ([], Counter[DocumentId]())
        )
        if any(version.kept for version in replacing):
            self._place_kept(bank_id, replacing)
        self._session.execute(_SQL["write"], bank_id=bank_id, documents=Jsonb([document_row(v) for v in versions]))
        chunks = [(version.document_id, chunk) for version in versions for chunk in version.chunks]
        for start in range(0, len(chunks), _MOST_PER_STATEMENT):
            rows = [chunk_row(document_id, chunk) for document_id, chunk in chunks[start : start + _MOST_PER_STATEMENT]]
            self._session.execute(_SQL["write_chunks"], bank_id=bank_id, chunks=Jsonb(rows))
        self.note(bank_id, [event_of(version, removed[version.document_id]) for version in versions])
        return reopened

    def twins(self, bank_id: BankId, document_ids: Sequence[DocumentId]) -> dict[DocumentId, Sequence[str]]:
        rows = self._session.tuples(_SQL["twins"], bank_id=bank_id, document_ids=list(document_ids), most=_MOST_TWINS)
        return {DocumentId(row[0]): row[1] for row in rows if row[1]}

    def set_files(self, bank_id: BankId, files: Mapping[DocumentId, SourceFile | None]) -> None:
        noted = sorted(files.items())
        self._session.execute(
            _SQL["set_files"],
            bank_id=bank_id,
            document_ids=[document_id for document_id, _ in noted],
            names=[None if file is None else file.name for _, file in noted],
            content_types=[None if file is None else file.content_type for _, file in noted],
            kept=[None if file is None else file.kept for _, file in noted],
        )

    def note(self, bank_id: BankId, events: Sequence[DocumentEvent]) -> None:
        self._session.execute(_SQL["note"], bank_id=bank_id, events=Jsonb([event_row(event) for event in events]))

    def find(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> StoredDocument | None:
        document_id = self._find(bank_id, sight, external_id)
        return None if document_id is None else self.stored(bank_id, [document_id]).get(document_id)

    def lock(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> StoredDocument | None:
        document_id = self._find(bank_id, sight, external_id)
        if document_id is None:
            return None
        self._session.tuples(_SQL["lock_versions"], bank_id=bank_id, document_ids=[document_id])
        # Whoever had it locked may have changed its tags, or taken it out.
        return self.find(bank_id, sight, external_id)

    def relabel(
        self, bank_id: BankId, document_id: DocumentId, tags: Sequence[str], retain_params: Mapping[str, object]
    ) -> None:
        self._session.execute(
            _SQL["relabel"],
            bank_id=bank_id,
            document_id=document_id,
            tags=list(tags),
            retain_params=Jsonb(dict(retain_params)),
        )

    def remove(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> Removed | None:
        document_id = self._find(bank_id, sight, external_id)
        return None if document_id is None else remove_document(self._session, bank_id, document_id)

    def page(
        self, bank_id: BankId, sight: DocumentSight, text: str | None, window: Window, limit: int, offset: int
    ) -> Page[DocumentView]:
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            text=text,
            limit=limit,
            offset=offset,
            **window_params(window),
            **document_params(sight),
        )
        return Page([document_view(row) for row in rows if row["external_id"] is not None], rows[0]["total"])

    def view(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> DocumentView | None:
        row = self._session.row(_SQL["view"], bank_id=bank_id, external_id=external_id, **document_params(sight))
        return None if row is None else document_view(row)

    def events(
        self, bank_id: BankId, sight: DocumentSight, external_id: str, limit: int, offset: int
    ) -> Page[EventView] | None:
        document_id = self._find(bank_id, sight, external_id)
        if document_id is None:
            return None
        asked = {"bank_id": bank_id, "document_id": document_id, "limit": limit, "offset": offset}
        rows = self._session.rows(_SQL["events"], **asked)
        return Page([event_view(row) for row in rows if row["kind"] is not None], rows[0]["total"])

    def chunk_page(
        self, bank_id: BankId, sight: DocumentSight, external_id: str, limit: int, offset: int
    ) -> Page[ChunkView] | None:
        document_id = self._find(bank_id, sight, external_id)
        if document_id is None:
            return None
        asked = {"bank_id": bank_id, "document_id": document_id, "limit": limit, "offset": offset}
        rows = self._session.rows(_SQL["chunk_page"], **asked)
        found = [chunk_view(external_id, row) for row in rows if row["chunk_index"] is not None]
        return Page(found, rows[0]["total"])

    def chunk(self, bank_id: BankId, sight: DocumentSight, external_id: str, index: int) -> ChunkView | None:
        document_id = self._find(bank_id, sight, external_id)
        if document_id is None:
            return None
        row = self._session.row(_SQL["chunk"], bank_id=bank_id, document_id=document_id, index=index)
        return None if row is None else chunk_view(external_id, row)

    def _find(self, bank_id: BankId, sight: DocumentSight, external_id: str) -> DocumentId | None:
        row = self._session.row(_SQL["find"], bank_id=bank_id, external_id=external_id, **document_params(sight))
        return None if row is None else DocumentId(row["document_id"])

    def _require_bases(self, bank_id: BankId, versions: Sequence[DocumentVersion]) -> None:
        ids = [version.document_id for version in versions]
        rows = self._session.tuples(_SQL["lock_versions"], bank_id=bank_id, document_ids=ids)
        at: dict[UUID, int] = {row[0]: row[1] for row in rows if not row[2]}
        for version in versions:
            if at.get(version.document_id) != version.base:
                raise WorkRaced(f"document {version.external_id!r} was changed while its new version was made")

    def _remove_former(
        self, bank_id: BankId, replacing: Sequence[DocumentVersion], coming: Sequence[ResolvedEntity]
    ) -> tuple[list[ScopeId], Counter[DocumentId]]:
        """Removes facts and chunks that are not kept, and what rests on the facts.

        Returns the scopes in which other facts wait again, and how many facts went by document.
        """
        if not replacing:
            return [], Counter()
        kept = [(version.document_id, chunk.former) for version in replacing for chunk in version.kept]
        going = {
            "bank_id": bank_id,
            "document_ids": [version.document_id for version in replacing],
            "kept_of": [document_id for document_id, _ in kept],
            "kept": [former for _, former in kept],
        }
        leaving = self._session.tuples(_SQL["leaving_facts"], **going)
        reopened: list[ScopeId] = []
        if leaving:
            ids = [row[0] for row in leaving]
            self._session.tuples(_SQL["lock_facts"], bank_id=bank_id, fact_ids=ids)
            PostgresEntities(self._session).claim(bank_id, coming, ids)
            reopened = PostgresMemories(self._session).remove(bank_id, ids)
        PostgresLinks(self._session).archive_will_lose(bank_id, document_ids=[each.document_id for each in replacing])
        self._session.execute(_SQL["remove_archived"], **going)
        self._session.execute(_SQL["remove_chunks"], **going)
        return reopened, Counter(DocumentId(row[1]) for row in leaving)

    def _place_kept(self, bank_id: BankId, replacing: Sequence[DocumentVersion]) -> None:
        """Puts the chunks that stay where they are now, and their facts with them."""
        kept = [(version.document_id, chunk) for version in replacing for chunk in version.kept]
        for start in range(0, len(kept), _MOST_PER_STATEMENT):
            rows = [kept_row(document_id, chunk) for document_id, chunk in kept[start : start + _MOST_PER_STATEMENT]]
            self._session.execute(_SQL["set_kept"], bank_id=bank_id, kept=Jsonb(rows))
        moved = [(document_id, chunk) for document_id, chunk in kept if chunk.former != chunk.chunk_index]
        if not moved:
            return
        going = {
            "bank_id": bank_id,
            "moved_of": [document_id for document_id, _ in moved],
            "moved": [chunk.former for _, chunk in moved],
            "places": [chunk.chunk_index for _, chunk in moved],
        }
        self._session.execute(
            _SQL["place_moved"], bank_id=bank_id, document_ids=[version.document_id for version in replacing]
        )
        following = self._session.tuples(_SQL["moving_facts"], **going)
        for start in range(0, len(following), _MOST_PER_STATEMENT):
            batch = following[start : start + _MOST_PER_STATEMENT]
            ids, places = [row[0] for row in batch], [row[1] for row in batch]
            self._session.execute(_SQL["move_facts"], bank_id=bank_id, ids=ids, places=places)
        self._session.execute(_SQL["move_archived"], **going)
