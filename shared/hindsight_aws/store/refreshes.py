"""Refreshes of mental models in Postgres.  Called through ports/refreshes.py; calls sql/refreshes.sql."""

from __future__ import annotations

from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.refreshes import OpenRefresh, RefreshLease, RefreshWish
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("refreshes")


class PostgresRefreshes:
    """The refreshes of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def open(self, bank_id: BankId, page_id: UUID) -> list[OpenRefresh]:
        return [
            OpenRefresh(
                OperationId(row["operation_id"]),
                RefreshWish(row["payload"]["full"], row["payload"]["automatic"], row["due_at"]),
                row["status"] == "processing",
            )
            for row in self._session.rows(_SQL["open"], bank_id=bank_id, page_id=page_id)
        ]

    def add(
        self, bank_id: BankId, page_id: UUID, model_id: str, operation_id: OperationId, subject: str, wish: RefreshWish
    ) -> bool:
        added = self._session.execute(
            _SQL["add"],
            bank_id=bank_id,
            operation_id=operation_id,
            page_id=page_id,
            subject=subject,
            payload=_payload(wish),
            result=Jsonb({"mental_model_id": model_id}),
            due_at=wish.due_at,
        )
        return added == 1

    def change(self, bank_id: BankId, operation_id: OperationId, wish: RefreshWish) -> None:
        self._session.execute(
            _SQL["change"], bank_id=bank_id, operation_id=operation_id, payload=_payload(wish), due_at=wish.due_at
        )

    def claim(self, bank_id: BankId, operation_id: OperationId, seconds: float) -> RefreshLease | None:
        return _lease(self._session.row(_SQL["claim"], bank_id=bank_id, operation_id=operation_id, seconds=seconds))

    def lock(self, bank_id: BankId, operation_id: OperationId, fence: int) -> RefreshLease | None:
        return _lease(self._session.row(_SQL["lock"], bank_id=bank_id, operation_id=operation_id, fence=fence))

    def complete(self, bank_id: BankId, operation_id: OperationId, details: JsonObject) -> None:
        self._session.execute(
            _SQL["complete"], bank_id=bank_id, operation_id=operation_id, result=Jsonb({"details": details})
        )

    def fail(self, bank_id: BankId, operation_id: OperationId, kind: str, message: str, details: JsonObject) -> None:
        self._session.execute(
            _SQL["fail"],
            bank_id=bank_id,
            operation_id=operation_id,
            kind=kind,
            message=message,
            result=Jsonb({"details": details}),
        )

    def put_off(self, bank_id: BankId, operation_id: OperationId, seconds: float, reason: str, *, counts: bool) -> None:
        self._session.execute(
            _SQL["put_off"],
            bank_id=bank_id,
            operation_id=operation_id,
            seconds=seconds,
            reason=reason,
            uncounted=0 if counts else 1,
        )

    def cancel(self, bank_id: BankId, page_id: UUID) -> None:
        self._session.execute(_SQL["cancel"], bank_id=bank_id, page_id=page_id)

    def stop_all(self, bank_id: BankId, page_id: UUID) -> None:
        self._session.execute(_SQL["stop"], bank_id=bank_id, page_id=page_id, operation_id=None)

    def stop(self, bank_id: BankId, operation_id: OperationId) -> None:
        self._session.execute(_SQL["stop"], bank_id=bank_id, page_id=None, operation_id=operation_id)

    def due(self, bank_id: BankId, at_most: int) -> list[OperationId]:
        rows = self._session.tuples(_SQL["due"], bank_id=bank_id, at_most=at_most)
        return [OperationId(row[0]) for row in rows]


def _payload(wish: RefreshWish) -> Jsonb:
    return Jsonb({"full": wish.full, "automatic": wish.automatic})


def _lease(row: Row | None) -> RefreshLease | None:
    if row is None:
        return None
    payload = row.pop("payload")
    return RefreshLease(**row, full=payload["full"], automatic=payload["automatic"])
