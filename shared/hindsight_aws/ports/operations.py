"""Operations: written down, leased, and brought to an end under a fence; and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.model.operation import RETAIN, Lease, NewOperation, Operation, Progress
from hindsight_aws.model.watermark import Watermark, WriteState
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class OperationView:
    """An operation as it is shown; `payload` only when it was asked for."""

    operation_id: UUID
    kind: str
    status: str
    items_count: int
    document: str | None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    error_message: str | None
    retries: int
    next_retry_at: datetime | None
    progress: Mapping[str, object] | None
    result: Mapping[str, object]
    payload: Mapping[str, object] | None
    children: tuple[ChildView, ...] | None


@dataclass(frozen=True, slots=True)
class ChildView:
    """An operation under a parent; `index` counts from 1 in order of submission."""

    operation_id: UUID
    status: str
    index: int
    items_count: int
    error_message: str | None


@dataclass(frozen=True, slots=True)
class OperationQuery:
    """What operations to list; `subject` None means anybody's."""

    status: str | None = None
    kind: str | None = None
    subject: str | None = None
    without_parents: bool = False
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Cancelled:
    """What was cancelled, and the operations whose turn a document of theirs is now."""

    operation_ids: tuple[OperationId, ...]
    to_wake: tuple[OperationId, ...]


@dataclass(frozen=True, slots=True)
class Retried:
    """An operation that is pending again, for whoever wakes a worker of its kind."""

    operation_id: OperationId
    kind: str


@dataclass(frozen=True, slots=True)
class Overtaker:
    """A later operation that has written a document; `replaced` says whether nothing is left of what was there."""

    operation_id: OperationId
    replaced: bool


class Operations(Protocol):
    """The operations of the transaction's tenant.

    Every method that takes a Lease raises WorkSuperseded when its fence has moved or the operation has ended: nothing
    of the transaction may then be committed.
    """

    def add(self, bank_id: BankId, operations: Sequence[NewOperation]) -> None:
        """Writes the operations down, pending and due now; parents before their children."""
        ...

    def add_if_new(self, bank_id: BankId, operation: NewOperation) -> datetime | None:
        """Writes the operation down and says when; None when its id is taken, in whatever bank of the tenant."""
        ...

    def find(self, operation_id: OperationId) -> Operation | None:
        """The operation as it is now, or None."""
        ...

    def children(self, operation_id: OperationId) -> list[OperationId]:
        """The operations under a parent, in order of submission."""
        ...

    def lease(self, operation_id: OperationId, seconds: float, kind: str = RETAIN) -> Lease | None:
        """The lease, when the operation is of this kind, open, due and held by nobody; the attempt is counted.

        None otherwise; a holder is then marked as woken again.
        """
        ...

    def lease_documents(self, lease: Lease, names: Mapping[DocumentId, str], seconds: float) -> bool:
        """Leases the operation's documents too, unless another holds one or an earlier operation waits for one.

        `names` are what callers call them.
        When it cannot, the operation is pending again, its attempt not counted, and it is woken when it can.
        """
        ...

    def renew(self, lease: Lease, seconds: float, progress: Progress | None = None) -> None:
        """Extends the lease, and those on the operation's documents, from now; notes how far the work is.

        Raises: WorkDeferred when the lease holds but one of a document does not: somebody deleted the document who had
        looked for its writers before this one came.  The operation is to be given back, and done from the beginning.
        """
        ...

    def require_held(self, lease: Lease) -> None:
        """Lets a holder pass whose work is still wanted: one read, nothing is locked."""
        ...

    def give_way(self, lease: Lease) -> None:
        """Gives the operation back uncounted, for the next one on its documents to go first; its end wakes this one."""
        ...

    def overtaken(self, lease: Lease) -> dict[DocumentId, Overtaker]:
        """Documents of the operation that a later one has written meanwhile, with the last that did."""
        ...

    def keep_extractions(self, lease: Lease, kept: Mapping[str, Mapping[str, object]]) -> None:
        """Keeps what model calls gave, by key, until the operation completes."""
        ...

    def kept_extractions(self, lease: Lease) -> dict[str, Mapping[str, object]]:
        """What earlier attempts of this operation kept, by key."""
        ...

    def complete(self, lease: Lease, result: Mapping[str, object]) -> None:
        """Ends the operation well; the tokens of all its attempts, as the ledger has them, join the result as `usage`.

        Its payload and kept extractions go: what is later deleted must not live on here.
        """
        ...

    def fail(
        self, lease: Lease, kind: str, message: str, result: Mapping[str, object], payload: Mapping[str, object]
    ) -> None:
        """Ends the operation badly; `usage` joins the result as in `complete`.

        `payload` is what remains to be done, so that it can be tried again when somebody asks.
        """
        ...

    def defer(self, lease: Lease, seconds: float, *, counts: bool, reason: str) -> None:
        """Gives the operation back, due in `seconds`; `counts` says whether the attempt counts against the limit."""
        ...

    def revive(self, lease: Lease, seconds: float, *, kind: str, reason: str) -> None:
        """Ends a round of attempts: the operation is due again in `seconds`, and holds up no later one until then."""
        ...

    def waiting(self, lease: Lease) -> list[OperationId]:
        """The operations whose turn the documents of this one are now; the caller must wake them."""
        ...

    def cancel(self, bank_id: BankId, operation_id: OperationId) -> Cancelled | None:
        """Cancels the operation, or what is open under it; None when nothing is open.

        Whoever works on it can no longer commit; what was committed stays.
        """
        ...

    def retry(self, bank_id: BankId, operation_id: OperationId) -> list[Retried]:
        """Makes the operation pending again as if new, if it failed, was cancelled or waits; its parent is open again.

        Of a parent, the children that failed or were cancelled.  What is answered must be woken; empty: nothing to do.
        """
        ...

    def remove(self, bank_id: BankId, operation_id: OperationId) -> bool:
        """Removes the record of an operation that has ended, with those under it; says whether it did."""
        ...

    def expire(self, bank_id: BankId, days: int, at_most: int) -> int:
        """Removes records of operations that ended more than `days` ago, the oldest first; how many."""
        ...

    def watermark_state(self, bank_id: BankId, watermark: Watermark, subject: str | None = None) -> WriteState | None:
        """What became of the write that the token stands for; None when this bank knows of none, or none of `subject`.

        The token of another tenant or bank finds nothing here.  A write whose operations failed or were cancelled has
        ended: what it stored is all there will be.
        """
        ...

    def page(self, bank_id: BankId, query: OperationQuery) -> Page[OperationView]:
        """Operations, newest first, without payload and children."""
        ...

    def view(
        self, bank_id: BankId, operation_id: UUID, subject: str | None, with_payload: bool
    ) -> OperationView | None:
        """One operation with its children, or None."""
        ...
