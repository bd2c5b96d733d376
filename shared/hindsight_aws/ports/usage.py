"""The usage ledger: what model calls cost, whatever became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId, RunId
from hindsight_aws.ports.model_gateway import ModelUsage, TokenUsage


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One line of the ledger: a model call, or equal ones of a batch, and on whose account it goes.

    `at` is when it was, for one that is written late; None: now.  What is older than 15 minutes counts as so old.
    """

    entry_id: UUID
    usage: ModelUsage
    subject: str | None
    bank_id: BankId | None = None
    operation_id: OperationId | None = None
    run_id: RunId | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UsageLine:
    """What the calls of one task to one model came to.

    `usd` is what the priced ones cost, None when none was; `unpriced_calls` cost something that nobody knows.
    """

    task: str
    model: str
    calls: int
    failed_calls: int
    tokens: TokenUsage
    usd: Decimal | None
    unpriced_calls: int


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What a tenant's calls of one day, bank, task or model came to; `usd` and `unpriced_calls` as of UsageLine."""

    name: str
    calls: int
    failed_calls: int
    tokens: TokenUsage
    usd: Decimal | None
    unpriced_calls: int


@dataclass(frozen=True, slots=True)
class RunCall:
    """One model call of a reflect run, whatever became of it; `usd` None when nobody knows its price."""

    task: str
    status: str
    tokens: TokenUsage
    usd: Decimal | None
    latency_ms: int


class UsageLedger(Protocol):
    """The ledger of the transaction's tenant: lines are added, never changed."""

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Adds the lines."""
        ...

    def of_bank(self, bank_id: BankId, start: datetime | None, end: datetime | None) -> Sequence[UsageLine]:
        """What the bank's calls came to from `start` on and before `end`, by task and model."""
        ...

    def of_tenant(
        self, start: datetime, end: datetime, by: Literal["day", "bank", "task", "model"]
    ) -> Sequence[UsageSum]:
        """What the tenant's calls came to from `start` on and before `end`, by UTC day, bank id, task or model."""
        ...

    def of_run(self, run_id: RunId) -> Sequence[RunCall]:
        """The model calls of a reflect run, in the order in which they ended."""
        ...
