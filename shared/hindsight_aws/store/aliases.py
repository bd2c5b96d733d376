"""Aliases in Postgres.  Called through ports/aliases.py; calls sql/aliases.sql."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.aliases import Alias, NamedBank
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.text.sanitise import can_be_stored

_SQL = queries("aliases")


class PostgresAliases:
    """The aliases of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def named(self, name: str) -> NamedBank | None:
        row = self._session.row(_SQL["named"], name=name) if can_be_stored(name) else None
        return None if row is None else NamedBank(BankId(row["bank_id"]), row["external_id"], row["is_audited"])

    def of_bank(self, bank_id: BankId) -> Sequence[Alias]:
        rows = self._session.rows(_SQL["of_bank"], bank_id=bank_id)
        return [Alias(row["alias"], row["is_primary"]) for row in rows]

    def add(self, bank_id: BankId, name: str) -> bool:
        return self._session.row(_SQL["add"], bank_id=bank_id, name=name) is not None

    def mark(self, bank_id: BankId, name: str, *, is_primary: bool) -> bool:
        if not can_be_stored(name):
            return False
        if is_primary:
            self._session.execute(_SQL["unmark_others"], bank_id=bank_id, name=name)
        return self._session.row(_SQL["mark"], bank_id=bank_id, name=name, is_primary=is_primary) is not None

    def remove(self, bank_id: BankId, name: str) -> bool:
        return can_be_stored(name) and self._session.row(_SQL["remove"], bank_id=bank_id, name=name) is not None
