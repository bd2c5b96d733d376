"""Kept files in Postgres.  Called through ports/kept_files.py; calls sql/kept_files.sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.kept_files import KeptFile
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("kept_files")


class PostgresKeptFiles:
    """The kept files of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, bank_id: BankId, kept: KeptFile) -> None:
        self._session.execute(_SQL["add"], bank_id=bank_id, **asdict(kept))

    def condemn(self, bank_id: BankId, at_most: int) -> Mapping[UUID, str]:
        return dict(self._session.tuples(_SQL["condemn"], bank_id=bank_id, at_most=at_most))

    def remove(self, bank_id: BankId, file_ids: Sequence[UUID]) -> None:
        self._session.execute(_SQL["remove"], bank_id=bank_id, file_ids=list(file_ids))
