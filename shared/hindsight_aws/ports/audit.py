"""The audit log as use cases see it: entries are added, read and, once their time is over, removed; never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.model.audit import AuditEntry
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries of a bank are asked for; None: any.  `start` is included, `end` is not."""

    action: str | None = None
    transport: str | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditCount:
    """How many calls of one action began in one bucket of time."""

    bucket: datetime
    action: str
    calls: int


class AuditLog(Protocol):
    """The audit log of the transaction's tenant; a bank is named by the id that its callers use."""

    def add(self, entry: AuditEntry) -> None:
        """Adds an entry."""
        ...

    def page(self, bank: str, wanted: AuditFilter, limit: int, offset: int) -> Page[AuditEntry]:
        """Entries of the bank, the latest first."""
        ...

    def view(self, bank: str, entry_id: UUID) -> AuditEntry | None:
        """One entry of the bank, or None."""
        ...

    def counts(
        self, bank: str, action: str | None, unit: Literal["hour", "day"], start: datetime
    ) -> Sequence[AuditCount]:
        """Calls from `start` on, by bucket (UTC) and action, the earliest bucket first."""
        ...

    def expire(self, bank_id: BankId, days: int, at_most: int) -> int:
        """Removes entries that began more than so many days ago, the oldest first; returns how many."""
        ...
