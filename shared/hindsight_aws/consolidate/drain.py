"""Drains one scope: works off its pending facts under a lease, one model call a batch, while there is time.

Called by jobs/consolidate.py for each wake-up.  No model call is made inside a transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from enum import Enum

from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.compact import compact
from hindsight_aws.consolidate.generation import Aside, Concluded, conclude
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.read import read_round
from hindsight_aws.consolidate.round import Round, only_requested
from hindsight_aws.errors import (
    DatabaseRefused,
    LimitReached,
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelReplyMalformed,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
    WorkCancelled,
    WorkRaced,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.model.webhook import CONSOLIDATION_COMPLETED
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.usage.allowance import parked

SECONDS_TO_WRITE = 15.0
"""What must be left after a model call, to write what it gave."""
MOST_DISCARDED = 3
"""Answers discarded in a row, because facts or policy kept changing meanwhile, before the scope is left for later."""
_FIRST_DELAY_S = 5
_LONGEST_DELAY_S = 1_800
_DENIED_DELAY = timedelta(minutes=15)
_THROTTLED_DELAY = timedelta(seconds=10)
_DISCARDED_DELAY = timedelta(seconds=5)


class Drained(Enum):
    """How a drain ended."""

    DONE = "nothing is due in the scope"
    HELD = "another worker has the lease and was told to look again"
    GONE = "the bank or the scope is no more, or observations are off"
    UNFINISHED = "time is up; the scope was woken again"
    ASIDE = "the scope's observations are being made anew in its shadow, or the shadow came to nothing"
    DEFERRED = "the model could not be reached, or others keep coming in between; the rows wait"
    SUPERSEDED = "the lease was lost"
    CANCELLED = "somebody cancelled it; what waits waits on"
    PARKED = "the tenant's daily limit is used up; the rows wait, untouched, for the next day"


def drain(ports: ConsolidationPorts, where: ScopeAddress, seconds_left: Callable[[], float]) -> Drained:
    """Works off the scope's due facts.

    Guarantees: idempotent under duplicate and lost wake-ups; each plan is applied whole or not at all; a fact's end in
    this scope is one of done (with its outcome) and failed, never silence; model calls are bounded per fact and all of
    them are in the ledger.
    """
    lease = _take_lease(ports, where)
    if isinstance(lease, Drained):
        return lease
    try:
        return _drain(ports, where, lease, seconds_left)
    except WorkCancelled:
        return _stop(ports, where, lease)
    except LimitReached:
        _release(ports, where, lease, even_if_woken=True)
        return Drained.PARKED
    except WorkSuperseded:
        return Drained.SUPERSEDED
    except WorkRaced:
        return _give_back(ports, where, lease)


def _take_lease(ports: ConsolidationPorts, where: ScopeAddress) -> ScopeLease | Drained:
    with ports.store.transaction(where.tenant_id) as tx:
        bank = tx.banks.by_id(where.bank_id)
        if bank is None or not resolve(ports.settings, bank.overrides).enable_observations:
            return Drained.GONE
        if parked(tx, ports.clock.now()) is not None:
            return Drained.PARKED
        seconds = ports.settings.hindsight_api_consolidation_lease_seconds
        return tx.consolidation.take_lease(where.bank_id, where.scope_id, seconds) or Drained.HELD


def _drain(
    ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease, seconds_left: Callable[[], float]
) -> Drained:
    discarded = 0
    while True:
        reached("consolidate.before_read")
        this_round = read_round(ports, where, lease, _has_time(ports, seconds_left))
        if isinstance(this_round, Aside):
            _release(ports, where, lease, even_if_woken=True)
            ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, this_round.woken)
            return Drained.ASIDE
        if this_round is None:
            if _is_through(ports, where, lease, _has_time(ports, seconds_left)):
                return Drained.DONE
            lease = replace(lease, compacts=False)
            continue
        if not this_round.has_time():
            _release(ports, where, lease, even_if_woken=True)
            ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, [ScopeId(where.scope_id)])
            return Drained.UNFINISHED
        is_written, wait = _work(this_round)
        discarded = 0 if is_written else discarded + 1
        if wait is None and discarded >= MOST_DISCARDED:
            wait = _DISCARDED_DELAY
        if wait is not None:
            _release(ports, where, lease, even_if_woken=True)
            scope_ids = [ScopeId(where.scope_id)]
            ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, scope_ids, round(wait.total_seconds()))
            return Drained.DEFERRED


def _is_through(
    ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease, has_time: Callable[[], bool]
) -> bool:
    """Ends work on a scope in which nothing is due; False when something came meanwhile."""
    if lease.compacts:
        compact(ports, where, lease, has_time)
    concluded = Concluded.WAITING if lease.rebuilds is None else conclude(ports, where, lease)
    if concluded is Concluded.WAITING:
        return _release(ports, where, lease)
    return concluded is Concluded.ENDED


def _has_time(ports: ConsolidationPorts, seconds_left: Callable[[], float]) -> Callable[[], bool]:
    """Whether a model call that takes as long as it may can still be written down."""
    needed = ports.settings.hindsight_api_llm_timeout + SECONDS_TO_WRITE
    return lambda: seconds_left() >= needed


def _work(this_round: Round) -> tuple[bool, timedelta | None]:
    """Asks, plans and applies; a bad answer is noted on the rows.

    Whether the rows moved on, and how long to wait when the model cannot be reached.
    """
    try:
        return this_round.run(), None
    except (ModelReplyMalformed, ModelReplyTruncated, ModelRefused, ModelInputTooLong, DatabaseRefused) as bad:
        this_round.note_bad_answer(f"{type(bad).__name__}: {bad}")
    except (ModelThrottled, ModelUnavailable, ModelDenied) as unreachable:
        wait, fails_after = _wait(this_round, unreachable)
        until, is_denied = this_round.ports.clock.now() + wait, isinstance(unreachable, ModelDenied)
        this_round.defer(until, str(unreachable), fails_after=fails_after, is_denied=is_denied)
        return True, wait
    return True, None


def _wait(
    this_round: Round, unreachable: ModelThrottled | ModelUnavailable | ModelDenied
) -> tuple[timedelta, int | None]:
    """How long to wait, and after how many such waits facts fail: only an outage is ever held against them.

    Where it is a later question that met the quota, the answer to the first is lost and paid for again: ever later.
    """
    if isinstance(unreachable, ModelDenied):
        return _DENIED_DELAY, None
    if isinstance(unreachable, ModelThrottled):
        until = unreachable.until
        wait = until - this_round.ports.clock.now() if until else _THROTTLED_DELAY
        return (wait if this_round.is_unheard else max(wait, _growing(this_round.calls))), None
    return _growing(this_round.deferrals), this_round.ports.settings.hindsight_api_consolidation_max_deferrals


def _growing(times: int) -> timedelta:
    return timedelta(seconds=min(_FIRST_DELAY_S * 2**times, _LONGEST_DELAY_S))


def _release(ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease, *, even_if_woken: bool = False) -> bool:
    reached("consolidate.before_release")
    with ports.store.transaction(where.tenant_id) as tx:
        bank = tx.banks.by_id(where.bank_id)
        is_heard = tx.consolidation.finish_operations(where.bank_id)
        is_heard = tx.webhooks.tell_of_round(where.bank_id, everywhere=_is_told_everywhere(ports)) or is_heard
        requested = bank is not None and only_requested(resolve(ports.settings, bank.overrides), lease)
        is_released = tx.consolidation.release_lease(
            where.bank_id, lease, even_if_woken=even_if_woken, requested_only=requested
        )
    if is_heard:
        ports.wakeups.wake_webhooks(where.tenant_id, where.bank_id)
    return is_released


def _is_told_everywhere(ports: ConsolidationPorts) -> bool:
    settings = ports.settings
    is_wanted = CONSOLIDATION_COMPLETED in settings.hindsight_api_webhook_event_types
    return settings.hindsight_api_webhook_url is not None and is_wanted


def _give_back(ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease) -> Drained:
    """Leaves a scope where the database ended this worker's transaction for another's sake; it is woken again soon.

    Holding one row and waiting for no other, this cannot come between others itself.
    """
    with ports.store.transaction(where.tenant_id) as tx:
        tx.consolidation.release_lease(where.bank_id, lease, even_if_woken=True)
    delay = round(_DISCARDED_DELAY.total_seconds())
    ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, [ScopeId(where.scope_id)], delay)
    return Drained.DEFERRED


def _stop(ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease) -> Drained:
    """Leaves a scope whose work was cancelled; whoever woke it since is heard by another worker."""
    with ports.store.transaction(where.tenant_id) as tx:
        is_released = tx.consolidation.release_lease(where.bank_id, lease, requested_only=True)
        if not is_released:
            tx.consolidation.release_lease(where.bank_id, lease, even_if_woken=True)
    if not is_released:
        ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, [ScopeId(where.scope_id)])
    return Drained.CANCELLED
