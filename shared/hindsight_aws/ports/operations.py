"""Operations: written down, leased, and brought to an end under a fence; and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.model.operation import Lease, NewOperation, Operation
from hindsight_aws.ports.page import Page


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


class Operations(Protocol):
    """The operations of the transaction's tenant.

    Every method that takes a Lease raises WorkSuperseded when its fence has moved or the operation has ended: nothing
    of the transaction may then be committed.
    """

    def add(self, bank_id: BankId, operations: Sequence[NewOperation]) -> None:
        """Writes the operations down, pending and due now; parents before their children."""
        ...

    def add_if_new(self, bank_id: BankId, operation: NewOperation) -> bool:
        """Writes the operation down unless its id is taken, in whatever bank; says whether it did."""
        ...

    def find(self, operation_id: OperationId) -> Operation | None:
        """The operation as it is now, or None."""
        ...

    def children(self, operation_id: OperationId) -> list[OperationId]:
        """The operations under a parent, in order of submission."""
        ...

    def lease(self, operation_id: OperationId, seconds: float) -> Lease | None:
        """The lease, when the operation is open, due and held by nobody; the attempt is counted.

        None otherwise; a holder is then marked as woken again.
        """
        ...

    def lease_documents(self, lease: Lease, names: Mapping[DocumentId, str], seconds: float) -> bool:
        """Leases the operation's documents too, unless another holds one or an earlier operation waits for one.

        `names` are what callers call them.
        When it cannot, the operation is pending again, its attempt not counted, and it is woken when it can.
        """
        ...

    def renew(self, lease: Lease, seconds: float) -> None:
        """Extends the lease, and those on the operation's documents, from now."""
        ...

    def keep_extractions(self, lease: Lease, kept: Mapping[str, Mapping[str, object]]) -> None:
        """Keeps what model calls gave, by key, until the operation completes."""
        ...

    def kept_extractions(self, lease: Lease) -> dict[str, Mapping[str, object]]:
        """What earlier attempts of this operation kept, by key."""
        ...

    def complete(self, lease: Lease, result: Mapping[str, object]) -> None:
        """Ends the operation well.

        Its payload and kept extractions go: what is later deleted must not live on here.
        """
        ...

    def fail(
        self, lease: Lease, kind: str, message: str, result: Mapping[str, object], payload: Mapping[str, object]
    ) -> None:
        """Ends the operation badly.

        `payload` is what remains to be done, so that it can be tried again when somebody asks.
        """
        ...

    def defer(self, lease: Lease, seconds: float, *, counts: bool, reason: str) -> None:
        """Gives the operation back, due in `seconds`; `counts` says whether the attempt counts against the limit."""
        ...

    def waiting(self, lease: Lease) -> list[OperationId]:
        """Operations that found a document of this one taken; their marks are cleared, so the caller must wake them."""
        ...

    def page(self, bank_id: BankId, query: OperationQuery) -> Page[OperationView]:
        """Operations, newest first, without payload and children."""
        ...

    def view(
        self, bank_id: BankId, operation_id: UUID, subject: str | None, with_payload: bool
    ) -> OperationView | None:
        """One operation with its children, or None."""
        ...
