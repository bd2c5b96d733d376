"""A bank's vectors and the model they are of: locked by whoever writes some, replaced as a whole by another model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import Embedding

ItemKind = Literal["memory", "archived", "revision", "page"]
ITEM_KINDS: Final[tuple[ItemKind, ...]] = ("memory", "archived", "revision", "page")
"""What has a vector, in the order in which it is locked."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something whose vector is to be made anew.

    `made_of` tells its text and its present vector from any other.  Of facts, times and `names` of entities are
    embedded too.
    """

    id: UUID
    made_of: str
    is_fact: bool
    text: str
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Span:
    """Ids past `after`, up to `until`."""

    after: UUID
    until: UUID


@dataclass(frozen=True, slots=True)
class GoingOn:
    """A re-embedding that has not ended."""

    operation_id: OperationId
    model: str


class BankVectors(Protocol):
    """Vectors of the banks of the transaction's tenant.

    Methods that take a Lease are for whoever holds the operation, by a renewed lease.
    """

    def lock_shared(self, bank_id: BankId, model: str | None) -> None:
        """Keeps the bank's vectors those of `model` until the commit: before any is written, or compared with one.

        None: whatever model they are of.  It waits for nobody.

        Raises: VectorsReplaced when they are another model's by now, or are just being replaced.
        """
        ...

    def going_on(self, bank_id: BankId, but: OperationId | None = None) -> GoingOn | None:
        """The bank's re-embedding that has not ended, `but` for this one, or None."""
        ...

    def left_over(self, bank_id: BankId, model: str) -> int:
        """How many of the bank's texts have a vector that is not this model's."""
        ...

    def made(self, lease: Lease) -> int:
        """How many vectors the operation has made that are not in place yet."""
        ...

    def unmade(self, lease: Lease, kind: ItemKind, model: str, span: Span, at_most: int) -> list[Item]:
        """Items of the span, in order, whose vectors the operation has not made of what they are now."""
        ...

    def keep(self, lease: Lease, kind: ItemKind, made: Sequence[tuple[Item, Embedding]]) -> None:
        """Keeps vectors beside those that serve.  Raises: ValueError for one that does not fit into the column."""
        ...

    def close(self, lease: Lease, seconds: float) -> None:
        """Has nobody write vectors of the bank for so long, from the commit on; the caller has locked them alone."""
        ...

    def open(self, bank_id: BankId) -> None:
        """Lets vectors of the bank be written again."""
        ...

    def lock_alone(self, bank_id: BankId) -> None:
        """Keeps everybody else from writing vectors of the bank until the commit; called first in a transaction."""
        ...

    def put_pages(self, lease: Lease, model: str, after: UUID, at_most: int) -> list[UUID]:
        """Puts vectors of pages in place of those that served, past `after`; the ids in order, none at the end.

        The caller has locked the vectors alone.
        """
        ...

    def pages_left(self, bank_id: BankId, model: str) -> int:
        """How many of the bank's pages have no vector of this model."""
        ...

    def adopt(self, lease: Lease, model: str) -> bool:
        """From the commit on the bank's vectors are this model's; False when the bank is being erased.

        Those that the operation has made serve where a row's own is not of the model, until `move` has put them there.
        """
        ...

    def is_adopted(self, bank_id: BankId, operation_id: OperationId) -> bool:
        """Whether vectors that the operation has made serve from beside."""
        ...

    def is_moving(self, bank_id: BankId) -> bool:
        """Whether vectors of the bank serve from beside, whosoever they are."""
        ...

    def move(self, lease: Lease, kind: ItemKind, after: UUID, at_most: int) -> list[UUID]:
        """Puts vectors that serve from beside into their rows, past `after`; the ids in order, none at the end.

        For everything but pages.  A row that was written since keeps what it has.
        """
        ...

    def settle(self, lease: Lease) -> None:
        """All vectors of the bank are in place."""
        ...

    def replaced(self, lease: Lease) -> int:
        """How many vectors the operation has replaced, or is putting in place."""
        ...

    def drop(self, bank_id: BankId, operation_id: OperationId) -> bool:
        """Removes some thousands of what an operation left beside the vectors that serve; whether more may be left.

        Of one that has not ended, or is retried, nothing is removed: what it made is made use of.
        """
        ...
