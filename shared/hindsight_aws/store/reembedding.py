"""A bank's vectors and the model they are of, in Postgres.

Called through ports/reembedding.py; calls sql/reembedding.sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from hindsight_aws.errors import VectorsReplaced
from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import Embedding
from hindsight_aws.ports.reembedding import GoingOn, Item, ItemKind, Span
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.vectors import half_vector

_SQL = queries("reembedding")
_SOON: Final = timedelta(seconds=5)
_DROPPED_AT_ONCE: Final = 5_000
"""Vectors of one statement, which takes 30 to 50 ms for them.

It names them by arrays: joined with the table, which fills faster than its statistics, they took more than 25 s.
"""


class PostgresBankVectors:
    """The vectors of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def lock_shared(self, bank_id: BankId, model: str | None) -> None:
        is_locked = self._session.tuples(_SQL["lock_shared"], bank_id=bank_id)[0][0]
        # A statement of its own: what was committed before the lock was had must be seen.
        row = self._session.row(_SQL["vectors_of"], bank_id=bank_id)
        if row is None:
            return
        if not is_locked or row["closed_until"] is not None:
            raise VectorsReplaced(
                "the bank's vectors are just being replaced", row["closed_until"] or row["at"] + _SOON
            )
        if model is not None and row["embedding_model"] not in (None, model):
            raise VectorsReplaced(f"the bank's vectors are made by {row['embedding_model']} by now")

    def going_on(self, bank_id: BankId, but: OperationId | None = None) -> GoingOn | None:
        row = self._session.row(_SQL["going_on"], bank_id=bank_id, but=but)
        return None if row is None else GoingOn(OperationId(row["operation_id"]), row["model"])

    def left_over(self, bank_id: BankId, model: str) -> int:
        return int(self._session.tuples(_SQL["left_over"], bank_id=bank_id, model=model)[0][0])

    def made(self, lease: Lease) -> int:
        return int(self._session.tuples(_SQL["made"], **_of(lease))[0][0])

    def unmade(self, lease: Lease, kind: ItemKind, model: str, span: Span, at_most: int) -> list[Item]:
        asked = {"model": model, "after": span.after, "until": span.until, "at_most": at_most}
        rows = self._session.rows(_SQL[f"read_{kind}"], **_of(lease), **asked)
        return [Item(**row) for row in rows]

    def keep(self, lease: Lease, kind: ItemKind, made: Sequence[tuple[Item, Embedding]]) -> None:
        self._session.execute(
            _SQL["keep"],
            **_of(lease),
            kind=kind,
            ids=[item.id for item, _ in made],
            made_of=[item.made_of for item, _ in made],
            vectors=[half_vector(embedding.values) for _, embedding in made],
        )

    def close(self, lease: Lease, seconds: float) -> None:
        self._session.execute(_SQL["close"], bank_id=lease.bank_id, seconds=seconds)

    def open(self, bank_id: BankId) -> None:
        self._session.execute(_SQL["open"], bank_id=bank_id)

    def lock_alone(self, bank_id: BankId) -> None:
        self._session.tuples(_SQL["lock_alone"], bank_id=bank_id)

    def put_pages(self, lease: Lease, model: str, after: UUID, at_most: int) -> list[UUID]:
        rows = self._session.tuples(_SQL["put_page"], **_of(lease), model=model, after=after, at_most=at_most)
        return sorted(row[0] for row in rows)

    def pages_left(self, bank_id: BankId, model: str) -> int:
        return int(self._session.tuples(_SQL["pages_left"], bank_id=bank_id, model=model)[0][0])

    def adopt(self, lease: Lease, model: str) -> bool:
        return self._session.row(_SQL["adopt"], **_of(lease), model=model) is not None

    def is_adopted(self, bank_id: BankId, operation_id: OperationId) -> bool:
        row = self._session.row(_SQL["is_adopted"], bank_id=bank_id, operation_id=operation_id)
        return row is not None and bool(row["is_adopted"])

    def is_moving(self, bank_id: BankId) -> bool:
        row = self._session.row(_SQL["is_moving"], bank_id=bank_id)
        return row is not None and bool(row["is_moving"])

    def move(self, lease: Lease, kind: ItemKind, after: UUID, at_most: int) -> list[UUID]:
        model = lease.payload["model"]
        rows = self._session.tuples(_SQL[f"move_{kind}"], **_of(lease), model=model, after=after, at_most=at_most)
        return sorted(row[0] for row in rows)

    def settle(self, lease: Lease) -> None:
        self._session.execute(_SQL["settle"], **_of(lease))

    def replaced(self, lease: Lease) -> int:
        row = self._session.row(_SQL["replaced"], **_of(lease))
        return 0 if row is None else int(row["vectors"])

    def drop(self, bank_id: BankId, operation_id: OperationId) -> bool:
        asked = {"bank_id": bank_id, "operation_id": operation_id, "at_most": _DROPPED_AT_ONCE}
        return self._session.execute(_SQL["drop"], **asked) >= _DROPPED_AT_ONCE


def _of(lease: Lease) -> dict[str, object]:
    return {"bank_id": lease.bank_id, "operation_id": lease.operation_id}
