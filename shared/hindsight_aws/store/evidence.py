"""What answers rest on, in Postgres.  Called through ports/evidence.py; calls sql/evidence.sql."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.evidence import FoundMemory, MemoriesQuery, RestingFact
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.recall_filters import uuids
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import own_params, sight_params

_SQL = queries("evidence")


class PostgresEvidenceReads:
    """Reads of what answers rest on, in one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def memories(self, query: MemoriesQuery) -> list[FoundMemory]:
        if not query.ids:
            return []
        rows = self._session.rows(
            _SQL["memories"],
            bank_id=query.bank_id,
            ids=uuids(query.ids),
            source=query.source,
            shows_sources=query.sight.sees_beneath,
            source_types=sorted(query.sight.source_types) if query.sight.sees_beneath else [],
            with_evidence=query.with_evidence,
            updated_after=query.times.updated_after,
            updated_before=query.times.updated_before,
            **own_params(query.documents.own),
            **sight_params(query.sight),
        )
        return [_memory(row) for row in rows]


def _memory(row: Row) -> FoundMemory:
    return FoundMemory(
        id=UnitId(row["id"]),
        text=row["text"],
        fact_type=row["fact_type"],
        context=row["context"],
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        mentioned_at=row["mentioned_at"],
        document_id=row["document_id"],
        chunk_index=row["chunk_index"],
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        source=row["source"],
        is_withheld=row["is_withheld"],
        facts=tuple(_fact(fact) for fact in row["facts"]),
        hidden=frozenset(map(UnitId, row["hidden"])),
    )


def _fact(fact: Row) -> RestingFact:
    said = fact["mentioned_at"]
    return RestingFact(
        id=UnitId(UUID(fact["id"])),
        text=fact["text"],
        mentioned_at=None if said is None else datetime.fromisoformat(said),
        quote=fact["quote"],
        origin=fact["origin"],
    )
