"""How much a bank holds, how its work stands, and how it grew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId

TimelineField = Literal["created_at", "mentioned_at", "occurred_start"]


@dataclass(frozen=True, slots=True)
class BankStats:
    """How much a bank holds and how its work stands.

    `evidence_by_origin`: pieces of evidence whose quote the model chose, and those that are the whole fact.
    """

    units_by_type: Mapping[str, int] = field(default_factory=dict)
    links_by_type: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    operations_by_status: Mapping[str, int] = field(default_factory=dict)
    last_consolidated_at: datetime | None = None
    last_write_at: datetime | None = None
    pending_consolidation: int = 0
    failed_consolidation: int = 0
    evidence_by_origin: Mapping[str, int] = field(default_factory=dict)


class Stats(Protocol):
    """Counts over the banks of the transaction's tenant."""

    def counts(self, bank_id: BankId) -> BankStats:
        """The counts of a whole bank."""
        ...

    def units_by_type(self, bank_id: BankId, sight: Sight) -> Mapping[str, int]:
        """The number of memories in sight, by type."""
        ...

    def timeline(
        self, bank_id: BankId, sight: Sight, axis: TimelineField, unit: str, since: datetime
    ) -> Sequence[tuple[datetime, str, int]]:
        """The number of memories in sight from `since` on, by UTC minute, hour or day and by type.

        Empty buckets are left out.
        """
        ...
