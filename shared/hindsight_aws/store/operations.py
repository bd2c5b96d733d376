"""Operations in Postgres.  Called through ports/operations.py; calls sql/operations.sql."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.errors import WorkDeferred, WorkRaced, WorkSuperseded
from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.model.operation import RETAIN, Lease, NewOperation, Operation, Progress
from hindsight_aws.model.watermark import Watermark, WriteState
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.operations import Cancelled, OperationQuery, OperationView, Overtaker, Retried
from hindsight_aws.store.operation_rows import lease_of, operation_json, operation_view
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("operations")
_MOST_TRIES = 5


class PostgresOperations:
    """The operations of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, bank_id: BankId, operations: Sequence[NewOperation]) -> None:
        self._add(bank_id, operations)

    def add_if_new(self, bank_id: BankId, operation: NewOperation) -> datetime | None:
        added = self._add(bank_id, [operation])
        return added[0][1] if added else None

    def find(self, operation_id: OperationId) -> Operation | None:
        row = self._session.row(_SQL["find"], operation_id=operation_id)
        return None if row is None else Operation(**row)

    def children(self, operation_id: OperationId) -> list[OperationId]:
        return [OperationId(row[0]) for row in self._session.tuples(_SQL["children"], operation_id=operation_id)]

    def lease(self, operation_id: OperationId, seconds: float, kind: str = RETAIN) -> Lease | None:
        row = self._session.row(_SQL["lease"], operation_id=operation_id, seconds=seconds, kind=kind)
        if row is None:
            self._session.execute(_SQL["mark_woken"], operation_id=operation_id)
            return None
        return lease_of(row)

    def lease_documents(self, lease: Lease, names: Mapping[DocumentId, str], seconds: float) -> bool:
        if not names:
            return True
        wanted = list(names)
        at = {"bank_id": lease.bank_id, "document_ids": wanted, "operation_id": lease.operation_id}
        self._lock_documents(lease, names)
        got = self._session.tuples(_SQL["lease_documents"], **at, seconds=seconds, created_at=lease.created_at)
        if len(got) == len(wanted):
            return True
        holders = [lease.operation_id]
        self._session.execute(
            _SQL["release_documents"], bank_id=lease.bank_id, document_ids=wanted, operation_ids=holders
        )
        self._session.execute(_SQL["hand_back"], operation_id=lease.operation_id, fence=lease.fence)
        return False

    def renew(self, lease: Lease, seconds: float, progress: Progress | None = None) -> None:
        self._fenced("renew", lease, seconds=seconds, progress=None if progress is None else Jsonb(asdict(progress)))
        if lease.document_ids:
            held = self._session.tuples(
                _SQL["renew_documents"],
                bank_id=lease.bank_id,
                operation_id=lease.operation_id,
                document_ids=list(lease.document_ids),
                seconds=seconds,
            )
            if len(held) != len(lease.document_ids):
                raise WorkDeferred(
                    f"a document of operation {lease.operation_id} was deleted meanwhile: it begins anew"
                )

    def require_held(self, lease: Lease) -> None:
        at = {"bank_id": lease.bank_id, "operation_id": lease.operation_id, "fence": lease.fence}
        if not self._session.tuples(_SQL["is_held"], **at)[0][0]:
            raise _superseded(lease)

    def give_way(self, lease: Lease) -> None:
        self._release_documents(lease.bank_id, [lease.operation_id], lease.document_ids)
        self._fenced("give_way", lease)

    def overtaken(self, lease: Lease) -> dict[DocumentId, Overtaker]:
        if not lease.document_ids:
            return {}
        rows = self._session.tuples(
            _SQL["overtaken"],
            bank_id=lease.bank_id,
            operation_id=lease.operation_id,
            created_at=lease.created_at,
            document_ids=list(lease.document_ids),
        )
        return {DocumentId(row[0]): Overtaker(OperationId(row[1]), row[2]) for row in rows}

    def keep_extractions(self, lease: Lease, kept: Mapping[str, Mapping[str, object]]) -> None:
        self._session.execute(
            _SQL["keep_extractions"],
            bank_id=lease.bank_id,
            operation_id=lease.operation_id,
            keys=list(kept),
            extractions=[json.dumps(extraction) for extraction in kept.values()],
        )

    def kept_extractions(self, lease: Lease) -> dict[str, Mapping[str, object]]:
        rows = self._session.tuples(_SQL["kept_extractions"], bank_id=lease.bank_id, operation_id=lease.operation_id)
        return dict(rows)

    def complete(self, lease: Lease, result: Mapping[str, object]) -> None:
        self._session.execute(_SQL["drop_kept"], bank_id=lease.bank_id, operation_ids=[lease.operation_id])
        self._end("complete", lease, result=Jsonb(result))

    def fail(
        self, lease: Lease, kind: str, message: str, result: Mapping[str, object], payload: Mapping[str, object]
    ) -> None:
        self._end("fail", lease, result=Jsonb(result), kind=kind, message=message, payload=Jsonb(payload))

    def defer(self, lease: Lease, seconds: float, *, counts: bool, reason: str) -> None:
        self._fenced("defer", lease, seconds=seconds, uncounted=0 if counts else 1, reason=reason)
        self._release_documents(lease.bank_id, [lease.operation_id], lease.document_ids)

    def revive(self, lease: Lease, seconds: float, *, kind: str, reason: str) -> None:
        self._fenced("revive", lease, seconds=seconds, kind=kind, reason=reason)
        self._release_documents(lease.bank_id, [lease.operation_id], lease.document_ids)

    def waiting(self, lease: Lease) -> list[OperationId]:
        return self._waiting(lease.bank_id, lease.document_ids)

    def cancel(self, bank_id: BankId, operation_id: OperationId) -> Cancelled | None:
        rows = self._session.tuples(_SQL["cancel"], bank_id=bank_id, operation_id=operation_id)
        if not rows:
            return None
        touched = sorted({document_id for row in rows for document_id in row[2]})
        self._release_documents(bank_id, [row[0] for row in rows], touched)
        for parent_id in sorted({row[1] for row in rows if row[1] is not None}):
            self._roll_up(bank_id, parent_id)
        return Cancelled(tuple(sorted(row[0] for row in rows)), tuple(self._waiting(bank_id, touched)))

    def retry(self, bank_id: BankId, operation_id: OperationId) -> list[Retried]:
        rows = self._session.tuples(_SQL["retry"], bank_id=bank_id, operation_id=operation_id)
        for parent_id in sorted({row[2] for row in rows if row[2] is not None}):
            self._session.execute(_SQL["reopen_parent"], bank_id=bank_id, parent_id=parent_id)
        return [Retried(OperationId(row[0]), row[1]) for row in rows]

    def remove(self, bank_id: BankId, operation_id: OperationId) -> bool:
        self._session.execute(_SQL["lock_family"], bank_id=bank_id, operation_id=operation_id)
        return bool(self._session.tuples(_SQL["remove"], bank_id=bank_id, operation_id=operation_id))

    def expire(self, bank_id: BankId, days: int, at_most: int) -> int:
        return self._session.execute(_SQL["expire"], bank_id=bank_id, days=days, at_most=at_most)

    def watermark_state(self, bank_id: BankId, watermark: Watermark, subject: str | None = None) -> WriteState | None:
        wanted = list(watermark.operation_ids)
        ((known, is_open, has_failed, is_unconsolidated, has_failed_work),) = self._session.tuples(
            _SQL["write_state"], bank_id=bank_id, operation_ids=wanted, subject=subject
        )
        if known != len(wanted):
            return None
        if is_open:
            return WriteState("pending", has_failed)
        return WriteState("stored" if is_unconsolidated else "consolidated", has_failed, has_failed_work)

    def page(self, bank_id: BankId, query: OperationQuery) -> Page[OperationView]:
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            status=query.status,
            kind=query.kind,
            subject=query.subject,
            without_parents=query.without_parents,
            limit=query.limit,
            offset=query.offset,
        )
        return Page([operation_view(row, None) for row in rows if row["operation_id"] is not None], rows[0]["total"])

    def view(
        self, bank_id: BankId, operation_id: UUID, subject: str | None, with_payload: bool
    ) -> OperationView | None:
        asked = {"bank_id": bank_id, "operation_id": operation_id}
        row = self._session.row(_SQL["view"], **asked, subject=subject, with_payload=with_payload)
        if row is None:
            return None
        children = self._session.rows(_SQL["child_views"], **asked)
        return operation_view(row, children or None)

    def _add(self, bank_id: BankId, operations: Sequence[NewOperation]) -> list[tuple[Any, ...]]:
        return self._session.tuples(
            _SQL["add"], bank_id=bank_id, operations=Jsonb([operation_json(new) for new in operations])
        )

    def _end(self, how: str, lease: Lease, **params: object) -> None:
        self._fenced(how, lease, **params)
        self._release_documents(lease.bank_id, [lease.operation_id], lease.document_ids)
        if lease.parent_id is not None:
            self._roll_up(lease.bank_id, lease.parent_id)

    def _roll_up(self, bank_id: BankId, parent_id: UUID) -> None:
        self._session.execute(_SQL["lock_parent"], bank_id=bank_id, parent_id=parent_id)
        self._session.execute(_SQL["roll_up"], bank_id=bank_id, parent_id=parent_id)

    def _waiting(self, bank_id: BankId, document_ids: Sequence[UUID]) -> list[OperationId]:
        if not document_ids:
            return []
        rows = self._session.tuples(_SQL["waiting"], bank_id=bank_id, document_ids=list(document_ids))
        return [OperationId(row[0]) for row in rows]

    def _lock_documents(self, lease: Lease, names: Mapping[DocumentId, str]) -> None:
        """Locks the documents' rows, made where there are none.

        Once more for a row that went while it was waited for: whoever removed it has told those that waited already.
        """
        at = {"bank_id": lease.bank_id, "document_ids": list(names)}
        for _ in range(_MOST_TRIES):
            self._session.execute(_SQL["make_document_places"], **at, external_ids=list(names.values()))
            if len(self._session.tuples(_SQL["lock_documents"], **at)) == len(names):
                return
        raise WorkRaced(f"documents of operation {lease.operation_id} come and go")

    def _release_documents(self, bank_id: BankId, operation_ids: Sequence[UUID], document_ids: Sequence[UUID]) -> None:
        if document_ids:
            at = {"bank_id": bank_id, "document_ids": list(document_ids)}
            self._session.execute(_SQL["release_documents"], **at, operation_ids=list(operation_ids))
            self._session.execute(_SQL["drop_document_places"], **at)

    def _fenced(self, how: str, lease: Lease, **params: object) -> None:
        row = self._session.row(
            _SQL[how], bank_id=lease.bank_id, operation_id=lease.operation_id, fence=lease.fence, **params
        )
        if row is None:
            raise _superseded(lease)


def _superseded(lease: Lease) -> WorkSuperseded:
    return WorkSuperseded(f"operation {lease.operation_id} was taken over, cancelled or removed")
