"""Settles an attempt that did not store what it was to: puts it off, lets it wait long, or ends it as failed.

Called by the job; calls commit.
"""

from __future__ import annotations

from typing import Final

from hindsight_aws.errors import (
    PASSING_FAULTS,
    HindsightError,
    LimitReached,
    VectorsReplaced,
    WorkCrashed,
    WorkDeferred,
    WorkSuperseded,
    may_pass,
)
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.operations.attempt import backoff
from hindsight_aws.retain import points
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.begin import LeasedOperation
from hindsight_aws.retain.commit import ToWake, defer, give_up
from hindsight_aws.retain.extraction.recipes import config_of
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.ports import RetainPorts

_LONGEST_RESET_S: Final = 87_000.0


def attempts_allowed(ports: RetainPorts, lease: Lease) -> int:
    """How many attempts, those of earlier rounds included, may have been begun by the end of this round."""
    return ports.settings.hindsight_api_retain_max_attempts * (lease.revivals + 1)


def put_off(
    ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, account: Account, passing: HindsightError
) -> Attempt:
    """Defers; a provider's fault counts as an attempt and the last one fails, a request to slow down never does."""
    lease = leased.lease
    counts = isinstance(passing, PASSING_FAULTS) and not isinstance(passing, VectorsReplaced)
    if counts and lease.attempts >= attempts_allowed(ports, lease):
        return fail(ports, tenant_id, lease, account, passing)
    is_parked = isinstance(passing, LimitReached)
    wait_s = wait_of(ports, passing) if isinstance(passing, LimitReached) else _wait(ports, lease, passing)
    try:
        # Parked work stays due: whoever raises the limit need not touch it.
        defer(ports, tenant_id, lease, passing, account, 0.0 if is_parked else wait_s, counts=counts)
    except WorkSuperseded as superseded:
        return leave_to_others(ports, tenant_id, account, superseded)
    return Attempt("deferred", account.totals, passing, wait_s)


def wait_of(ports: RetainPorts, passing: WorkDeferred) -> float:
    """Seconds until a moment that is known, one at least."""
    asked = 0.0 if passing.until is None else (passing.until - ports.clock.now()).total_seconds()
    return min(max(asked, 1.0), _LONGEST_RESET_S)


def _wait(ports: RetainPorts, lease: Lease, passing: HindsightError) -> float:
    if isinstance(passing, WorkDeferred):
        if type(passing) is WorkDeferred and passing.until is None:
            return 0.0
        if passing.until is not None:
            return wait_of(ports, passing)
    return backoff(lease.fence)  # a request to slow down counts no attempt, and must be waited for longer each time


def fail(ports: RetainPorts, tenant_id: TenantId, lease: Lease, account: Account, final: HindsightError) -> Attempt:
    """Ends the operation as failed, or this round of attempts when another one may help.

    Nothing of the attempt is stored, and what its calls cost is in the ledger.
    """
    is_last = lease.revivals >= ports.settings.hindsight_retain_max_revivals
    wait_s = ports.settings.hindsight_retain_revival_seconds * 2.0**lease.revivals
    # What a worker died of may pass too; a refusal or a wrong request stays what it is.
    revives = (may_pass(type(final)) or isinstance(final, WorkCrashed)) and not is_last
    try:
        if revives:
            to_wake = _revive(ports, tenant_id, lease, account, final, wait_s)
        else:
            to_wake = list(give_up(ports, tenant_id, lease, final, account).operations)
    except WorkSuperseded as superseded:
        return leave_to_others(ports, tenant_id, account, superseded)
    reached(points.BEFORE_WAKEUP)
    if to_wake:
        ports.wakeups.wake_operations(tenant_id, to_wake)
    return Attempt("deferred", account.totals, final, wait_s) if revives else Attempt("failed", account.totals, final)


def _revive(
    ports: RetainPorts, tenant_id: TenantId, lease: Lease, account: Account, passing: HindsightError, wait_s: float
) -> list[OperationId]:
    """Lets the operation wait long; later ones on its documents go first, so whose turn it is must be told."""
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.usage.record(lines)
        tx.operations.revive(lease, wait_s, kind=type(passing).__name__, reason=str(passing))
        account.allowance.settle(tx)
        return tx.operations.waiting(lease)


def leave_to_others(ports: RetainPorts, tenant_id: TenantId, account: Account, superseded: WorkSuperseded) -> Attempt:
    """Leaves the operation to whoever took it over, or ended it; what the calls cost is in the ledger all the same."""
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.usage.record(lines)
        account.allowance.settle(tx)
    return Attempt("absent", account.totals, superseded)


def wake(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, to_wake: ToWake) -> None:
    """Wakes whoever has work now, after the commit that made it."""
    reached(points.BEFORE_WAKEUP)
    if to_wake.scopes and config_of(ports.settings, leased.bank, None).consolidates_by_itself:
        ports.wakeups.wake_scopes(tenant_id, leased.bank.bank_id, to_wake.scopes)
    if to_wake.operations:
        ports.wakeups.wake_operations(tenant_id, to_wake.operations)
    if to_wake.links:
        ports.wakeups.wake_links(tenant_id, leased.bank.bank_id)
    if to_wake.webhooks:
        ports.wakeups.wake_webhooks(tenant_id, leased.bank.bank_id)
