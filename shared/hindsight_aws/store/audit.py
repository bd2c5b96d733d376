"""The audit log in Postgres.  Called through ports/audit.py; calls sql/audit.sql."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.audit import AuditEntry
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.audit import AuditCount, AuditFilter
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("audit")


class PostgresAuditLog:
    """The audit log of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, entry: AuditEntry) -> None:
        self._session.execute(
            _SQL["add"],
            entry_id=entry.entry_id,
            bank_id=entry.bank_id,
            bank=entry.bank,
            action=entry.action,
            transport=entry.transport,
            subject=entry.subject,
            status=entry.status,
            targets=Jsonb(dict(entry.targets)),
            started_at=entry.started_at,
            ended_at=entry.ended_at,
        )

    def page(self, bank: str, wanted: AuditFilter, limit: int, offset: int) -> Page[AuditEntry]:
        rows = self._session.rows(
            _SQL["page"],
            bank=bank,
            action=wanted.action,
            transport=wanted.transport,
            start=wanted.start,
            end=wanted.end,
            limit=limit,
            offset=offset,
        )
        return Page([_entry(row) for row in rows if row["entry_id"] is not None], rows[0]["total"])

    def view(self, bank: str, entry_id: UUID) -> AuditEntry | None:
        row = self._session.row(_SQL["view"], bank=bank, entry_id=entry_id)
        return None if row is None else _entry(row)

    def counts(
        self, bank: str, action: str | None, unit: Literal["hour", "day"], start: datetime
    ) -> Sequence[AuditCount]:
        rows = self._session.rows(_SQL["counts"], bank=bank, action=action, unit=unit, start=start)
        return [AuditCount(row["bucket"], row["action"], row["calls"]) for row in rows]

    def expire(self, bank_id: BankId, days: int, at_most: int) -> int:
        return len(self._session.rows(_SQL["expire"], bank_id=bank_id, days=days, at_most=at_most))


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(
        entry_id=row["entry_id"],
        bank_id=BankId(row["bank_id"]),
        bank=row["bank"],
        action=row["action"],
        transport=row["transport"],
        subject=row["subject"],
        status=row["status"],
        targets=row["targets"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )
