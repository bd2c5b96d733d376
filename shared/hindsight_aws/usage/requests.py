"""Counts the requests of tenants that may make only so many, and refuses what is over.

Called by the API for each caller that is known; calls the ledger and the limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import uuid4

from hindsight_aws.errors import LimitReached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.limits import DAY, REQUESTS_TASK, LimitName, Limits, day_of
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import ModelUsage, TokenUsage
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.usage import LedgerEntry

LOOKS_EVERY: Final = timedelta(seconds=5)
"""How old what a process knows of a tenant may be: so long others may count past a limit, each for itself."""
_LOOKS_AGAIN: Final = timedelta(seconds=15)
_MINUTE: Final = timedelta(minutes=1)


@dataclass(slots=True)
class _Known:
    """What a process knows of a tenant: its limits, and what the ledger said; `own` is what it does not hold yet."""

    limits: Limits | None
    looked_at: datetime
    of_minute: int = 0
    of_day: int = 0
    own: int = 0

    def is_old(self, now: datetime) -> bool:
        """Whether the ledger is to be asked again: time passed, or a minute, and with it perhaps the day, ended."""
        if self.limits is None:
            return now - self.looked_at >= _LOOKS_AGAIN
        return now - self.looked_at >= LOOKS_EVERY or _minute_of(now) != _minute_of(self.looked_at)


class RequestMeter:
    """Of one process.  A tenant without limits on requests costs one row read every 15 s, and no line is written.

    What is counted reaches the ledger within the next request after 5 s; what a process that goes counted last does
    not.  Refused requests do not count.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._known: dict[TenantId, _Known] = {}

    def count(self, tenant_id: TenantId) -> None:
        """Counts a request.  Raises: LimitReached for one that is over a limit; DatabaseUnavailable."""
        now = self._clock.now()
        known = self._known.get(tenant_id)
        if known is None or known.is_old(now) or now < known.looked_at:
            known = self._known[tenant_id] = self._look(tenant_id, now, known)
        limits = known.limits
        if limits is None:
            return
        _check("requests_per_day", limits.requests_per_day, known.of_day + known.own, day_of(now) + DAY)
        _check(
            "requests_per_minute", limits.requests_per_minute, known.of_minute + known.own, _minute_of(now) + _MINUTE
        )
        known.own += 1

    def _look(self, tenant_id: TenantId, now: datetime, before: _Known | None) -> _Known:
        """Writes down what was counted, and reads what all processes counted."""
        minute = _minute_of(now)
        with self._store.transaction(tenant_id) as tx:
            limits = tx.limits.find()
            if limits is None or not limits.bounds_requests:
                return _Known(None, now)
            if before is not None and before.own:
                tx.usage.record([_line(before.own, before.looked_at)])
            of_day, of_minute = tx.limits.requests(day_of(now), minute)
        return _Known(limits, now, of_minute, of_day)


def _line(requests: int, since: datetime) -> LedgerEntry:
    """Requests as the ledger counts them, at the time they were made: the process may have stood still since."""
    counted = ModelUsage(REQUESTS_TASK, None, "", "ok", TokenUsage(), Decimal(0), 0.0, calls=requests)
    return LedgerEntry(uuid4(), counted, None, at=since)


def _check(name: LimitName, cap: int | None, made: int, until: datetime) -> None:
    if cap is not None and made >= cap:
        raise LimitReached(
            f"The limit {name} of {cap} is reached; it begins anew at {until:%Y-%m-%dT%H:%M:%SZ}", until, name
        )


def _minute_of(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)
