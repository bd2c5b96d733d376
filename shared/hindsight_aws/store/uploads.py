"""Announced uploads in Postgres.  Called through ports/uploads.py; calls sql/uploads.sql."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.ports.uploads import Upload
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("uploads")


class PostgresUploads:
    """The announced uploads of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, bank_id: BankId, upload: Upload) -> None:
        self._session.execute(
            _SQL["add"],
            bank_id=bank_id,
            upload_id=upload.upload_id,
            subject=upload.subject,
            key=upload.key,
            filename=upload.filename,
            content_type=upload.content_type,
            size=upload.size,
        )

    def find(self, bank_id: BankId, upload_ids: Sequence[UUID], subject: str | None) -> dict[UUID, Upload]:
        return _by_id(self._session.rows(_SQL["find"], bank_id=bank_id, upload_ids=list(upload_ids), subject=subject))

    def take(self, bank_id: BankId, upload_ids: Sequence[UUID]) -> dict[UUID, Upload]:
        return _by_id(self._session.rows(_SQL["take"], bank_id=bank_id, upload_ids=list(upload_ids)))

    def assign(self, bank_id: BankId, upload_id: UUID, operation_id: OperationId) -> None:
        self._session.execute(_SQL["assign"], bank_id=bank_id, upload_id=upload_id, operation_id=operation_id)

    def forget(self, bank_id: BankId, before: datetime) -> None:
        self._session.execute(_SQL["forget"], bank_id=bank_id, before=before)


def _by_id(rows: Iterable[Row]) -> dict[UUID, Upload]:
    return {row["upload_id"]: Upload(**row) for row in rows}
