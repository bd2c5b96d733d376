"""Banks in Postgres.  Called through ports/banks.py; calls sql/banks.sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from psycopg.types.json import Json

from hindsight_aws.errors import Conflict, WorkRaced
from hindsight_aws.model.bank import Bank, check_new_bank_id
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.banks import BankSummary
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.patterns import glob_regex
from hindsight_aws.store.queries import Query, queries
from hindsight_aws.store.session import Session
from hindsight_aws.text.sanitise import can_be_stored

_SQL = queries("banks")


class PostgresBanks:
    """The banks of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, external_id: str) -> Bank | None:
        return self._one(_SQL["find"], external_id)

    def by_id(self, bank_id: BankId) -> Bank | None:
        row = self._session.row(_SQL["by_id"], bank_id=bank_id)
        return None if row is None else bank_of(row)

    def lock(self, external_id: str) -> Bank | None:
        return self._one(_SQL["lock"], external_id)

    def create(self, external_id: str) -> Bank | None:
        check_new_bank_id(external_id)
        made = self._session.row(_SQL["create"], bank_id=uuid4(), external_id=external_id)
        if made is not None:
            return bank_of(made)
        if self.find(external_id) is None:
            raise Conflict(f"'{external_id}' is already taken by another bank or alias")
        return None

    def create_if_missing(self, external_id: str) -> Bank:
        found = self.find(external_id) or self.create(external_id) or self.find(external_id)
        if found is None:
            raise WorkRaced(f"bank '{external_id}' was deleted meanwhile")
        return found

    def save(self, bank_id: BankId, name: str | None, overrides: Mapping[str, object]) -> None:
        self._session.execute(_SQL["save"], bank_id=bank_id, name=name, config=Json(dict(overrides)))

    def page(self, text: str | None, patterns: Sequence[str] | None, limit: int, offset: int) -> Page[BankSummary]:
        covered = None if patterns is None else glob_regex(patterns)
        rows = self._session.rows(_SQL["page"], text=text, covered=covered, limit=limit, offset=offset)
        return Page([_summary(row) for row in rows if row["bank_id"] is not None], rows[0]["total"])

    def _one(self, query: Query, external_id: str) -> Bank | None:
        if not can_be_stored(external_id):
            return None
        row = self._session.row(query, external_id=external_id)
        return None if row is None else bank_of(row)


def bank_of(row: Row) -> Bank:
    """A bank's row as a bank."""
    return Bank(BankId(row["bank_id"]), row["external_id"], row["name"], row["config"], row["embedding_model"])


def _summary(row: Row) -> BankSummary:
    return BankSummary(
        bank=bank_of(row),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        facts=row["facts"],
        last_document_at=row["last_document_at"],
        last_write_at=row["last_write_at"],
        primary_alias=row["primary_alias"],
        matched_aliases=tuple(row["matched_aliases"]),
    )
