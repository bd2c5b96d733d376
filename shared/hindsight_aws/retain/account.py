"""The running account of one attempt's model calls: what the ledger lacks yet, and what the answer says was used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import ModelUsage
from hindsight_aws.ports.usage import LedgerEntry
from hindsight_aws.retain.intake.requests import RetainTotals
from hindsight_aws.usage.allowance import Allowance
from hindsight_aws.usage.ledger import ledger_entries


class Account:
    """Takes usage records from several threads; hands each out for the ledger until it was committed there."""

    def __init__(self, lease: Lease, allowance: Allowance) -> None:
        self._lease = lease
        self.allowance = allowance
        self._taken: list[ModelUsage] = []
        self._unrecorded: list[LedgerEntry] = []

    def take(self, usage: ModelUsage) -> None:
        """A UsageSink."""
        self._taken.append(usage)
        self._unrecorded += ledger_entries([usage], self._lease.subject, self._lease.bank_id, self._lease.operation_id)

    @contextmanager
    def unrecorded(self) -> Iterator[Sequence[LedgerEntry]]:
        """The lines that the ledger lacks, for a transaction inside the block.

        They count as recorded when the block ends without an error, and are handed out again otherwise.
        """
        lines = tuple(self._unrecorded)
        yield lines
        del self._unrecorded[: len(lines)]

    @property
    def totals(self) -> RetainTotals:
        """The text model's tokens so far."""
        tokens = [usage.tokens for usage in self._taken if usage.prompt is not None]
        return RetainTotals(
            input_tokens=sum(each.total_input for each in tokens),
            output_tokens=sum(each.output for each in tokens),
            cached_tokens=sum(each.cache_read for each in tokens),
        )
