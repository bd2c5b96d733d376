"""What a tenant may use: limits, what was used of them, and the wait for the next day.  Nouns, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, Literal
from uuid import UUID

LimitName = Literal["requests_per_minute", "requests_per_day", "tokens_per_day", "usd_per_day"]

REQUESTS_TASK: Final = "requests"
"""The task of ledger lines that count requests to the API; they are of no bank and of no model."""
DAY: Final = timedelta(days=1)
MOST_JITTER_S: Final = 300
"""Parked tenants go on within so many seconds after midnight, each always at its own."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a tenant may use at most; None: as much as it likes.

    A day is UTC, midnight to midnight.  `alert_share` of a daily limit is when somebody is told.
    """

    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_day: int | None = None
    usd_per_day: Decimal | None = None
    alert_share: Decimal = Decimal("0.8")

    @property
    def bounds_models(self) -> bool:
        """Whether model work can be parked by it."""
        return self.tokens_per_day is not None or self.usd_per_day is not None

    @property
    def bounds_requests(self) -> bool:
        """Whether requests are counted for it."""
        return self.requests_per_minute is not None or self.requests_per_day is not None


@dataclass(frozen=True, slots=True)
class Spent:
    """What the ledger holds of a day, failed calls included; `usd` is that of priced calls.

    `unpriced_input` and `unpriced_output` are tokens of calls that the price table does not know.  `settled` is how
    many lines were read that could be added up for good.
    """

    tokens: int = 0
    usd: Decimal = Decimal(0)
    unpriced_input: int = 0
    unpriced_output: int = 0
    requests: int = 0
    settled: int = 0


@dataclass(frozen=True, slots=True)
class Reserved:
    """The most that calls under way may still cost."""

    usd: Decimal = Decimal(0)
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Parking:
    """Why a tenant's model work waits, and until when."""

    until: datetime
    limit: LimitName
    reason: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How a tenant stands: whether model calls are to be asked for at all, and why they wait, if they do."""

    is_bounded: bool = False
    parking: Parking | None = None


@dataclass(frozen=True, slots=True)
class LimitAlert:
    """A day's limit of which so large a share was reached: `spent` of `cap`, in the limit's own unit."""

    limit: LimitName
    share: Decimal
    spent: Decimal
    cap: Decimal


def day_of(now: datetime) -> datetime:
    """The midnight, UTC, at which the day of this moment began."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def resumes_at(tenant_id: UUID, now: datetime) -> datetime:
    """When a tenant that is parked now goes on: shortly after the next midnight, not all tenants at once."""
    return day_of(now) + DAY + timedelta(seconds=tenant_id.int % MOST_JITTER_S)
