"""Memories in Postgres.  Called through ports/memories.py; calls sql/memories.sql and store/index.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.access import Sight
from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.ids import BankId, DocumentId, ScopeId, UnitId
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.memories import (
    EvidenceView,
    LabelledFact,
    Labels,
    MemoryDetail,
    MemoryQuery,
    MemoryView,
    NewFact,
    ScopeState,
)
from hindsight_aws.store.connection import Row
from hindsight_aws.store.index import Indexed, PostgresIndex, added
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.observations import PostgresObservations
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import beneath_params, sight_params, window_params
from hindsight_aws.store.vectors import half_vector

_SQL = queries("memories")

_MOST_PER_STATEMENT: Final = 1_000


class PostgresMemories:
    """The memories of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = PostgresIndex(session)

    def count(self, bank_id: BankId) -> int:
        return int(self._session.tuples(_SQL["count"], bank_id=bank_id)[0][0])

    def add(self, bank_id: BankId, embedding_model: str, facts: Sequence[NewFact]) -> None:
        in_order = sorted(facts, key=lambda fact: fact.id)
        for start in range(0, len(in_order), _MOST_PER_STATEMENT):
            self._add(bank_id, embedding_model, in_order[start : start + _MOST_PER_STATEMENT])

    def remove(self, bank_id: BankId, fact_ids: Sequence[UnitId]) -> list[ScopeId]:
        asked = {"bank_id": bank_id, "fact_ids": list(fact_ids)}
        self._session.tuples(_SQL["lock_documents_of"], **asked)
        leaving = [UnitId(row[0]) for row in self._session.tuples(_SQL["lock_leaving"], **asked)]
        if not leaving:
            return []
        gone = {"bank_id": bank_id, "fact_ids": leaving}
        self._session.tuples(_SQL["lock_entities_of"], **gone)
        self._session.execute(_SQL["uncount_mentions"], **gone)
        PostgresLinks(self._session).will_lose(bank_id, leaving)
        reopened = PostgresObservations(self._session).sweep(bank_id, leaving)
        for start in range(0, len(leaving), _MOST_PER_STATEMENT):
            batch = leaving[start : start + _MOST_PER_STATEMENT]
            removed = self._session.tuples(_SQL["remove"], bank_id=bank_id, fact_ids=batch)
            self._index.count(bank_id, {row[0]: (-row[1], -row[2]) for row in removed})
        return reopened

    def labelled(self, bank_id: BankId, document_id: DocumentId, chunk_indexes: Sequence[int]) -> list[LabelledFact]:
        asked = {"bank_id": bank_id, "document_id": document_id, "chunk_indexes": list(chunk_indexes)}
        live = self._session.rows(_SQL["labelled"], **asked)
        archived = self._session.rows(_SQL["labelled_archived"], **asked)
        return [_labelled(row, is_valid=True) for row in live] + [_labelled(row, is_valid=False) for row in archived]

    def relabel(self, bank_id: BankId, labels_of: Mapping[UnitId, Labels]) -> None:
        rows = [
            {
                "id": str(fact_id),
                "tags": labels.tags,
                "metadata": dict(labels.metadata),
                "observation_scopes": labels.observation_scopes,
            }
            for fact_id, labels in labels_of.items()
        ]
        for start in range(0, len(rows), _MOST_PER_STATEMENT):
            labels = Jsonb(rows[start : start + _MOST_PER_STATEMENT])
            live = self._session.tuples(_SQL["relabel"], bank_id=bank_id, labels=labels)
            self._index.retag(bank_id, {row[0]: labels_of[row[0]].tags for row in live})
            self._session.execute(_SQL["relabel_archived"], bank_id=bank_id, labels=labels)

    def touch_bank(self, bank_id: BankId, embedding_model: str | None) -> None:
        if self._session.row(_SQL["touch_bank"], bank_id=bank_id, embedding_model=embedding_model) is None:
            raise WorkSuperseded("the bank went away, or another model made its vectors meanwhile")

    def page(self, bank_id: BankId, sight: Sight, query: MemoryQuery) -> Page[MemoryView]:
        found = self._session.row(
            _SQL["page"],
            bank_id=bank_id,
            state=query.state,
            consolidation=query.consolidation,
            written_by=Jsonb(dict(query.written_by)) if query.written_by else None,
            text=query.text,
            document=query.document,
            entity=query.entity,
            limit=query.limit,
            offset=query.offset,
            **window_params(query.window),
            **sight_params(sight),
        )
        if found is None or not found["ids"]:
            return Page((), 0 if found is None else found["total"])
        return Page(self._views(bank_id, sight, found["ids"]), found["total"])

    def view(self, bank_id: BankId, sight: Sight, memory_id: UUID) -> MemoryDetail | None:
        asked = {"bank_id": bank_id, "memory_id": memory_id, **sight_params(sight)}
        if self._session.row(_SQL["sees"], **asked) is None:
            return None
        views = self._views(bank_id, sight, [memory_id])
        if not views:
            return None
        if views[0].fact_type != "observation":
            return MemoryDetail(views[0], (), 0, self._scopes(asked))
        beneath = beneath_params(sight)
        rows = self._session.rows(
            _SQL["evidence"], bank_id=bank_id, memory_id=memory_id, sources=sight.sees_beneath, **beneath
        )
        shown = tuple(_evidence(row) for row in rows if row["is_seen"])
        return MemoryDetail(views[0], shown, len(rows) - len(shown))

    def _scopes(self, asked: Mapping[str, object]) -> tuple[ScopeState, ...]:
        rows = self._session.rows(_SQL["scope_states"], **{k: v for k, v in asked.items() if k != "fact_types"})
        return tuple(
            ScopeState(None if row["tags"] is None else tuple(row["tags"]), row["state"], row["outcome"], row["error"])
            for row in rows
        )

    def _views(self, bank_id: BankId, sight: Sight, ids: list[UUID]) -> list[MemoryView]:
        beneath = beneath_params(sight)
        rows = self._session.rows(_SQL["views"], bank_id=bank_id, ids=ids, sources=sight.sees_beneath, **beneath)
        return [_memory(row) for row in rows]

    def _add(self, bank_id: BankId, embedding_model: str, facts: Sequence[NewFact]) -> None:
        indexed = [Indexed(fact.id, fact.fact_type, fact.term_counts, fact.tags) for fact in facts]
        self._session.execute(
            _SQL["add"],
            bank_id=bank_id,
            embedding_model=embedding_model,
            facts=Jsonb([_row(fact, known.length) for fact, known in zip(facts, indexed, strict=True)]),
            embeddings=[half_vector(fact.embedding.values) for fact in facts],
        )
        self._index.add(bank_id, indexed)
        self._index.count(bank_id, added(indexed))


def _row(fact: NewFact, length: int) -> dict[str, object]:
    return {
        "id": str(fact.id),
        "fact_type": fact.fact_type,
        "document_id": str(fact.document_id),
        "chunk_index": fact.chunk_index,
        "ordinal": fact.ordinal,
        "text": fact.text,
        "context": fact.context,
        "occurred_start": None if fact.occurred_start is None else fact.occurred_start.isoformat(),
        "occurred_end": None if fact.occurred_end is None else fact.occurred_end.isoformat(),
        "mentioned_at": None if fact.mentioned_at is None else fact.mentioned_at.isoformat(),
        "metadata": dict(fact.metadata),
        "tags": fact.tags,
        "observation_scopes": fact.observation_scopes,
        "terms": length,
    }


def _labelled(row: Row, *, is_valid: bool) -> LabelledFact:
    labels = Labels(tuple(row["tags"]), row["metadata"], row["observation_scopes"])
    return LabelledFact(row["id"], row["chunk_index"], labels, frozenset(row["labels"]), is_valid)


def _memory(row: Row) -> MemoryView:
    return MemoryView(
        id=row["id"],
        fact_type=row["fact_type"],
        text=row["text"],
        context=row["context"],
        event_date=row["event_date"],
        mentioned_at=row["mentioned_at"],
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        document=row["document"],
        chunk_index=row["chunk_index"],
        entities=tuple(row["entities"]),
        proof_count=row["proof_count"],
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        observation_scopes=row["observation_scopes"],
        consolidated_at=row["consolidated_at"],
        consolidation_failed_at=row["consolidation_failed_at"],
        state=row["state"],
        invalidation_reason=row["reason"],
        invalidated_at=row["invalidated_at"],
        edited_at=row["edited_at"],
        updated_at=row["updated_at"],
        source_ids=tuple(row["source_ids"]),
        created_by=row["created_by"],
        last_by=row["last_by"],
    )


def _evidence(row: Row) -> EvidenceView:
    return EvidenceView(
        fact_id=row["fact_id"],
        quote=row["quote"],
        origin=row["origin"],
        text=row["text"],
        fact_type=row["fact_type"],
        context=row["context"],
        occurred_start=row["occurred_start"],
        mentioned_at=row["mentioned_at"],
    )
