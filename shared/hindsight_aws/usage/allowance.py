"""What a unit of work may spend on models: asked before each call, given back when the ledger has its line.

Called by the use cases that call text models, within transactions of theirs; calls ports/limits.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import uuid4

from hindsight_aws.errors import LimitReached, ModelThrottled, WorkDeferred
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.limits import DAY, LimitName, Limits, Parking, Reserved, Spent, Standing, day_of, resumes_at
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.ports.store import Transaction
from hindsight_aws.usage.admission import Admission, admitted, alerts, used_up
from hindsight_aws.usage.estimate import Estimate, estimate

LONGEST_RESERVATION: Final = timedelta(minutes=15)
"""As long as any worker lives: what was reserved for calls of one that was killed is free again after it."""
_BUSY_FOR: Final = timedelta(seconds=30)
_MOST_LINES: Final = 1_000
_UNBOUNDED: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Granted:
    """How many calls may be made; none: `refusal` says why, and until when."""

    calls: int
    refusal: WorkDeferred | None = None


class Allowance:
    """Of one unit of work of one tenant, in one process.

    A tenant without limits on models is asked about in one indexed read, and nothing is written for it.
    """

    def __init__(self, tenant_id: TenantId, clock: Clock) -> None:
        self._tenant_id, self._clock = tenant_id, clock
        self._reservation_id = uuid4()
        self._open: dict[str, Estimate] = {}

    def ask(self, tx: Transaction, wanted: Callable[[], Mapping[str, ModelCall]], *, each: int = 1) -> Granted:
        """How many of the calls, named by whoever asks and in their order, may be made; it is reserved from now on.

        `each` is how often a call may be made again before its line is in the ledger.  The last thing that a
        transaction does: admissions of a tenant come in turn, each until its commit.  Where the day's limit is used up
        the tenant is parked by it; the caller raises the refusal after the commit.
        """
        limits = tx.limits.find_alone()
        if limits is None:
            return Granted(_UNBOUNDED)
        now = self._clock.now()
        estimates = {name: estimate(call).times(each) for name, call in wanted().items()}
        spent = _spent(tx, now)
        others, own = tx.limits.reserved(self._reservation_id, now), _sum(self._open.values())
        reserved = Reserved(others.usd + own.usd, others.tokens + own.tokens)
        verdict = admitted(limits, spent, reserved, list(estimates.values()))
        _tell(tx, limits, spent, now, verdict.limit)
        if verdict.calls:
            self._open |= dict(list(estimates.items())[: verdict.calls])
            tx.limits.reserve(self._reservation_id, _sum(self._open.values()), now, now + LONGEST_RESERVATION)
            return Granted(verdict.calls)
        if verdict.limit is None:
            return Granted(
                0, ModelThrottled("what is left of the day's limit is held by calls under way", now + _BUSY_FOR)
            )
        return Granted(0, park(tx, self._tenant_id, verdict, now))

    def settle(self, tx: Transaction, done: Iterable[str] | None = None) -> None:
        """Gives back what was reserved for calls whose lines this transaction has written: `done`, or all of them."""
        if not self._open:
            return
        for name in list(self._open) if done is None else done:
            self._open.pop(name, None)
        if self._open:
            now = self._clock.now()
            tx.limits.reserve(self._reservation_id, _sum(self._open.values()), now, now + LONGEST_RESERVATION)
        else:
            tx.limits.release(self._reservation_id)


def parked(tx: Transaction, now: datetime) -> LimitReached | None:
    """Why the tenant's model work waits; None when it does not."""
    return waits(tx.limits.standing(now))


def waits(standing: Standing) -> LimitReached | None:
    """Why model work waits, as an error; None when it does not."""
    return None if standing.parking is None else _reached(standing.parking)


def park(tx: Transaction, tenant_id: TenantId, verdict: Admission, now: datetime) -> LimitReached:
    """Has the tenant's model work wait for the next day."""
    if verdict.limit is None:
        raise AssertionError("what parks a tenant has a name")
    parking = Parking(resumes_at(tenant_id, now), verdict.limit, verdict.reason or verdict.limit)
    tx.limits.park(parking, now)
    return _reached(parking)


def look(tx: Transaction, tenant_id: TenantId, now: datetime) -> LimitReached | None:
    """Looks at the tenant's day as nobody else may have done: calls that nobody is asked for, as those of recall.

    Writes down what somebody is to be told of, and parks the tenant where a limit is reached.
    """
    limits = tx.limits.find_alone() or tx.limits.find()
    if limits is None:
        return None
    spent = _spent(tx, now)
    verdict = used_up(limits, spent)
    _tell(tx, limits, spent, now, None if verdict is None else verdict.limit)
    return None if verdict is None else park(tx, tenant_id, verdict, now)


def _spent(tx: Transaction, now: datetime) -> Spent:
    """What was spent of the day; where many lines had to be read for it they are added up."""
    start = day_of(now)
    spent = tx.limits.spent(start, start + DAY)
    if spent.settled > _MOST_LINES:
        tx.limits.add_up(start, start + DAY)
    return spent


def _tell(tx: Transaction, limits: Limits, spent: Spent, now: datetime, parks: LimitName | None) -> None:
    if found := alerts(limits, spent, parks):
        tx.limits.alert(day_of(now), found)


def _reached(parking: Parking) -> LimitReached:
    until = parking.until.isoformat(timespec="seconds").replace("+00:00", "Z")
    return LimitReached(
        f"The daily limit {parking.limit} is reached: {parking.reason}. Model work goes on by itself at {until}",
        parking.until,
        parking.limit,
    )


def _sum(estimates: Iterable[Estimate]) -> Reserved:
    found = list(estimates)
    return Reserved(sum((one.usd or Decimal(0) for one in found), Decimal(0)), sum(one.tokens for one in found))
