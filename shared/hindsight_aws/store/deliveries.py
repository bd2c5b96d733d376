"""Deliveries in Postgres.  Called through ports/deliveries.py; calls sql/deliveries.sql."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.webhook import Delivery, DeliveryStatus, Receipt
from hindsight_aws.ports.deliveries import Claimed, FannedOut, PutOff, ServerHook
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.webhooks import http_of

_SQL = queries("deliveries")


class PostgresDeliveries:
    """The deliveries of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def fan_out(self, bank_id: BankId, server: ServerHook, at_most: int) -> FannedOut:
        # Locked first: who deletes a bank takes its events and its hooks in an order of the database's own.
        if self._session.row(_SQL["lock_bank"], bank_id=bank_id) is None:
            return FannedOut(0, ())
        row = self._session.row(
            _SQL["fan_out"],
            bank_id=bank_id,
            server_url=server.url,
            server_events=list(server.event_types),
            at_most=at_most,
        )
        return FannedOut(0, ()) if row is None else FannedOut(row["events"], row["made"])

    def claim(self, bank_id: BankId, delivery_id: UUID, lease_seconds: float) -> Claimed | None:
        row = self._session.row(_SQL["claim"], bank_id=bank_id, delivery_id=delivery_id, lease_seconds=lease_seconds)
        return None if row is None else _claimed(row)

    def put_off(self, bank_id: BankId, delivery_id: UUID, at_once: int, longest_seconds: float) -> PutOff | None:
        row = self._session.row(
            _SQL["put_off"],
            bank_id=bank_id,
            delivery_id=delivery_id,
            at_once=at_once,
            longest_seconds=longest_seconds,
        )
        return None if row is None else PutOff(row["status"] == "failed", row["wait_seconds"])

    def note_answer(self, bank_id: BankId, delivery_id: UUID, fence: int, *, is_taken: bool, patience: int) -> None:
        self._session.execute(
            _SQL["note_answer"],
            bank_id=bank_id,
            delivery_id=delivery_id,
            fence=fence,
            is_taken=is_taken,
            patience=patience,
        )

    def attempts(self, bank_id: BankId, delivery_id: UUID, fence: int) -> int | None:
        row = self._session.row(_SQL["attempts"], bank_id=bank_id, delivery_id=delivery_id, fence=fence)
        return None if row is None else int(row["attempts"])

    def settle(
        self,
        bank_id: BankId,
        delivery_id: UUID,
        fence: int,
        status: DeliveryStatus,
        receipt: Receipt,
        wait_seconds: float = 0.0,
    ) -> None:
        self._session.execute(
            _SQL["settle"],
            bank_id=bank_id,
            delivery_id=delivery_id,
            fence=fence,
            status=status,
            answered=receipt.status,
            error=receipt.error,
            wait_seconds=wait_seconds,
        )

    def abandon(self, bank_id: BankId, delivery_id: UUID, fence: int, why: str) -> None:
        self._session.execute(_SQL["abandon"], bank_id=bank_id, delivery_id=delivery_id, fence=fence, why=why)

    def page(
        self, bank_id: BankId, webhook_id: UUID, *, limit: int, before: tuple[datetime, UUID] | None
    ) -> list[Delivery]:
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            webhook_id=webhook_id,
            before=before and before[0],
            before_id=before and before[1],
            limit=limit,
        )
        return [Delivery(**row) for row in rows]


def _claimed(row: Row) -> Claimed:
    return Claimed(
        delivery_id=row["delivery_id"],
        fence=row["fence"],
        attempts=row["attempts"],
        url=row["url"],
        is_enabled=row["is_enabled"],
        event_id=row["event_id"],
        event=row["event"],
        bank=row["external_id"],
        operation_id=row["operation_id"],
        status=row["status"],
        data=row["data"],
        created_at=row["created_at"],
        lease_until=row["lease_until"],
        http=http_of(row),
        secret=row["secret"],
    )
