"""Turns what model calls report into ledger lines and totals.  Called by every use case that calls a model."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

from hindsight_aws.model.ids import BankId, OperationId, RunId
from hindsight_aws.ports.model_gateway import ModelUsage
from hindsight_aws.ports.usage import LedgerEntry


def ledger_entries(
    usages: Iterable[ModelUsage],
    subject: str | None,
    bank_id: BankId | None,
    operation_id: OperationId | None = None,
    run_id: RunId | None = None,
) -> list[LedgerEntry]:
    """A line for each call, on one account."""
    return [LedgerEntry(uuid4(), usage, subject, bank_id, operation_id, run_id) for usage in usages]
