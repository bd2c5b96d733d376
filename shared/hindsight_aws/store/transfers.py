"""Transfers in Postgres.

Called through ports/transfers.py; calls sql/transfers.sql, sql/transfer_read.sql and sql/transfer_write.sql, and
store/index.py for what memories are found by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import Embedding, JsonObject
from hindsight_aws.ports.transfers import NewBank, OfferedArchive, RowsWanted, TransferPlace
from hindsight_aws.store.index import Indexed, PostgresIndex, added
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.vectors import half_vector
from hindsight_aws.store.whole_bank import delete_whole, hidden_name, lock_whole, take_time
from hindsight_aws.text.sanitise import can_be_stored

_SQL = queries("transfers")
_READ = queries("transfer_read")
_WRITE = queries("transfer_write")

_REFUSALS: Final = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.SyntaxError,
    psycopg.errors.ProgramLimitExceeded,
)
"""What a row can be refused for; the last is a name that no index takes."""
_DEEPEST: Final = 16
"""Folders of a knowledge base lie no deeper."""


class PostgresTransfers:
    """The transfers of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self, lease: Lease, archive_key: str) -> TransferPlace:
        at = {"bank_id": lease.bank_id, "operation_id": lease.operation_id}
        self._session.execute(_SQL["begin"], **at, archive_key=archive_key)
        row = self._session.row(_SQL["place"], **at)
        return TransferPlace(archive_key) if row is None else TransferPlace(**row)

    def move(self, lease: Lease, place: TransferPlace) -> None:
        self._session.execute(
            _SQL["move"],
            bank_id=lease.bank_id,
            operation_id=lease.operation_id,
            is_offered=place.is_offered,
            target_id=place.target_id,
            member=place.member,
            line=place.line,
            counts=Jsonb(dict(place.counts)),
        )

    def archive_of(self, bank_id: BankId, operation_id: OperationId) -> str | None:
        row = self._session.row(_SQL["archive_of"], bank_id=bank_id, operation_id=operation_id)
        return None if row is None else str(row["archive_key"])

    def offered(self, archive_key: str) -> OfferedArchive | None:
        row = self._session.row(_SQL["archive"], archive_key=archive_key)
        if row is None:
            return None
        return OfferedArchive(row["bank"], row["filename"] or "archive.zip", row["holds_settings"])

    def is_taken(self, external_id: str) -> bool:
        if not can_be_stored(external_id):
            return False
        return bool(self._session.tuples(_SQL["is_taken"], external_id=external_id)[0][0])

    def read(self, bank_id: BankId, kind: str, wanted: RowsWanted) -> Iterator[str]:
        documents = None if wanted.documents is None else list(wanted.documents)
        found = self._session.stream(
            _READ[f"read_{kind}"],
            bank_id=bank_id,
            document_ids=documents,
            with_whole=wanted.with_whole,
            with_history=wanted.with_history,
        )
        for row in found:
            yield row[0]

    def make_bank(self, lease: Lease, bank_id: BankId, model: str) -> None:
        self._session.execute(
            _SQL["make_bank"],
            bank_id=bank_id,
            external_id=hidden_name(bank_id),
            embedding_model=model,
            restored_in=lease.bank_id,
            restored_by=lease.operation_id,
        )

    def write(
        self, bank_id: BankId, kind: str, rows: Sequence[JsonObject], vectors: Sequence[Embedding | None]
    ) -> None:
        params: dict[str, object] = {"bank_id": bank_id, "rows": Jsonb(list(rows))}
        try:
            if vectors:
                params["vectors"] = [None if each is None else half_vector(each.values) for each in vectors]
            self._session.execute(_WRITE[f"write_{kind}"], **params)
            if kind == "memories":
                self._index(bank_id, rows)
        except _REFUSALS as refused:
            raise ArchiveRefused(f"{kind}: {_why(refused)}") from refused

    def reveal(self, bank_id: BankId, bank: NewBank) -> bool:
        doubt = self._session.tuples(_SQL["doubtful"], bank_id=bank_id, deepest=_DEEPEST)[0][0]
        if doubt is not None:
            raise ArchiveRefused(f"the archive is not of a bank: {doubt}")
        self._session.execute(_SQL["count_proofs"], bank_id=bank_id)
        self._session.execute(_SQL["open_scopes"], bank_id=bank_id)
        self._session.execute(_SQL["open_models"], bank_id=bank_id)
        named = {"external_id": bank.external_id, "name": bank.name, "config": bank.config}
        try:
            return bool(
                self._session.execute(_SQL["reveal"], bank_id=bank_id, **named, embedding_model=bank.embedding_model)
            )
        except psycopg.errors.UniqueViolation:
            return False

    def abandon(self, bank_id: BankId, operation_id: OperationId) -> None:
        hidden = self._session.tuples(_SQL["hidden"], restored_in=bank_id, restored_by=operation_id)
        if not hidden:
            return
        self._session.execute(_SQL["begin_again"], bank_id=bank_id, operation_id=operation_id)
        for row in hidden:
            if lock_whole(self._session, BankId(row[0])):
                take_time(self._session)
                delete_whole(self._session, BankId(row[0]))

    def _index(self, bank_id: BankId, rows: Sequence[JsonObject]) -> None:
        """Postings, tags and counters of memories, as their rows say."""
        found = [
            Indexed(
                UUID(str(row["id"])),
                str(row["fact_type"]),
                _term_counts(row["postings"]),
                list(dict.fromkeys(cast("list[str]", row["tags"]))),
            )
            for row in rows
        ]
        index = PostgresIndex(self._session)
        index.add(bank_id, found)
        index.count(bank_id, added(found))


def _term_counts(postings: object) -> Mapping[str, int]:
    if not isinstance(postings, dict) or not all(type(count) is int and count > 0 for count in postings.values()):
        raise ArchiveRefused("memories: postings must count terms")
    return postings


def _why(refused: psycopg.Error) -> str:
    """What a caller may be told of a statement that the database refused."""
    if isinstance(refused, psycopg.errors.ForeignKeyViolation):
        return "a row refers to one that the archive does not hold"
    if isinstance(refused, psycopg.errors.UniqueViolation):
        return "a row is there twice"
    if isinstance(refused, psycopg.IntegrityError):
        return f"a row breaks a rule of the schema ({refused.diag.constraint_name or refused.diag.column_name})"
    return f"a value is of the wrong type or cannot be stored (SQLSTATE {refused.sqlstate})"
