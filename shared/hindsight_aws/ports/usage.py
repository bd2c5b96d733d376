"""The usage ledger: what model calls cost, whatever became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId, RunId
from hindsight_aws.ports.model_gateway import ModelUsage


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One line of the ledger: a model call, or equal ones of a batch, and on whose account it goes."""

    entry_id: UUID
    usage: ModelUsage
    subject: str | None
    bank_id: BankId | None = None
    operation_id: OperationId | None = None
    run_id: RunId | None = None


class UsageLedger(Protocol):
    """The ledger of the transaction's tenant: lines are added, never changed."""

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Adds the lines."""
        ...
