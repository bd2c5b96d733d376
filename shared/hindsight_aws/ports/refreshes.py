"""Refreshes of mental models as operations: one of a model waits at most, and one runs at most."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.ports.model_gateway import JsonObject


@dataclass(frozen=True, slots=True)
class RefreshWish:
    """What is asked of a refresh: a full one, by somebody (else it came by itself), and when at the earliest."""

    full: bool
    automatic: bool
    due_at: datetime


@dataclass(frozen=True, slots=True)
class OpenRefresh:
    """A refresh that waits or runs."""

    operation_id: OperationId
    wish: RefreshWish
    is_running: bool


@dataclass(frozen=True, slots=True)
class RefreshLease:
    """The right to run one refresh, until another takes its `fence` away; `attempts` counts this one."""

    operation_id: OperationId
    page_id: UUID
    subject: str
    full: bool
    automatic: bool
    fence: int
    attempts: int


class Refreshes(Protocol):
    """The refreshes of the transaction's tenant."""

    def open(self, bank_id: BankId, page_id: UUID) -> list[OpenRefresh]:
        """Those of a model that wait or run, locked until the transaction ends."""
        ...

    def add(
        self, bank_id: BankId, page_id: UUID, model_id: str, operation_id: OperationId, subject: str, wish: RefreshWish
    ) -> bool:
        """Writes down a refresh that waits; False when one waits already."""
        ...

    def change(self, bank_id: BankId, operation_id: OperationId, wish: RefreshWish) -> None:
        """What is asked of one that waits, now."""
        ...

    def claim(self, bank_id: BankId, operation_id: OperationId, seconds: float) -> RefreshLease | None:
        """The lease of a due one, whose attempt is then counted; None when it is not due, or one of its model runs."""
        ...

    def lock(self, bank_id: BankId, operation_id: OperationId, fence: int) -> RefreshLease | None:
        """The lease if it holds still; the operation is then locked until the transaction ends."""
        ...

    def complete(self, bank_id: BankId, operation_id: OperationId, details: JsonObject) -> None:
        """Ends one that is locked well."""
        ...

    def fail(self, bank_id: BankId, operation_id: OperationId, kind: str, message: str, details: JsonObject) -> None:
        """Ends one that is locked badly."""
        ...

    def put_off(self, bank_id: BankId, operation_id: OperationId, seconds: float, reason: str, *, counts: bool) -> None:
        """Has one that is locked wait again, unless another waits by now: that one does both."""
        ...

    def cancel(self, bank_id: BankId, page_id: UUID) -> None:
        """Cancels what is open of a model: whoever is at one can write nothing any more."""
        ...

    def stop_all(self, bank_id: BankId, page_id: UUID) -> None:
        """Ends the runs of a model, previews too; after the model in the order of locks."""
        ...

    def stop(self, bank_id: BankId, operation_id: OperationId) -> None:
        """Ends the run of one that was cancelled: no model is asked for it any more."""
        ...

    def due(self, bank_id: BankId, at_most: int) -> list[OperationId]:
        """Those of a bank that are due, those due for longest first."""
        ...
