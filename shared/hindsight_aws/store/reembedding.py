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
from hindsight_aws.ports.reembedding import GoingOn, Item, ItemKind
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.vectors import half_vector

_SQL = queries("reembedding")
_SOON: Final = timedelta(seconds=5)


class PostgresBankVectors:
    """The vectors of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def hold(self, bank_id: BankId, model: str | None) -> None:
        is_held = self._session.tuples(_SQL["hold_shared"], bank_id=bank_id)[0][0]
        # A statement of its own: what was committed before the lock was had must be seen.
        row = self._session.row(_SQL["vectors_of"], bank_id=bank_id)
        if row is None:
            return
        if not is_held or row["closed_until"] is not None:
            raise VectorsReplaced(
                "the bank's vectors are just being replaced", row["closed_until"] or row["at"] + _SOON
            )
        if model is not None and row["embedding_model"] not in (None, model):
            raise VectorsReplaced(f"the bank's vectors are made by {row['embedding_model']} by now")

    def going_on(self, bank_id: BankId) -> GoingOn | None:
        row = self._session.row(_SQL["going_on"], bank_id=bank_id)
        return None if row is None else GoingOn(OperationId(row["operation_id"]), row["model"])

    def left_over(self, bank_id: BankId, model: str) -> int:
        return int(self._session.tuples(_SQL["left_over"], bank_id=bank_id, model=model)[0][0])

    def made(self, lease: Lease) -> int:
        return int(self._session.tuples(_SQL["made"], **_of(lease))[0][0])

    def unmade(self, lease: Lease, kind: ItemKind, model: str, after: UUID, at_most: int) -> list[Item]:
        rows = self._session.rows(_SQL[f"read_{kind}"], **_of(lease), model=model, after=after, at_most=at_most)
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

    def hold_alone(self, bank_id: BankId) -> None:
        self._session.tuples(_SQL["hold_alone"], bank_id=bank_id)

    def put(self, lease: Lease, kind: ItemKind, model: str, after: UUID, at_most: int) -> list[UUID]:
        rows = self._session.tuples(_SQL[f"put_{kind}"], **_of(lease), model=model, after=after, at_most=at_most)
        return sorted(row[0] for row in rows)

    def adopt(self, lease: Lease, model: str) -> bool:
        return self._session.row(_SQL["adopt"], bank_id=lease.bank_id, model=model) is not None

    def drop(self, bank_id: BankId, operation_id: OperationId) -> None:
        self._session.execute(_SQL["drop"], bank_id=bank_id, operation_id=operation_id)


def _of(lease: Lease) -> dict[str, object]:
    return {"bank_id": lease.bank_id, "operation_id": lease.operation_id}
