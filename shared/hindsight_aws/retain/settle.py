"""Settles an attempt that did not store what it was to: puts it off, or ends it as failed.

Called by the job; calls commit.
"""

from __future__ import annotations

from hindsight_aws.errors import HindsightError, ModelUnavailable, WorkDeferred, WorkRaced, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.retain import points
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.begin import LeasedOperation
from hindsight_aws.retain.commit import ToWake, defer, give_up
from hindsight_aws.retain.extraction.recipes import config_of
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.ports import RetainPorts

_LONGEST_WAIT_S = 900.0
_FIRST_WAIT_S = 5.0


def put_off(
    ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, account: Account, passing: HindsightError
) -> Attempt:
    """Defers; a provider's fault counts as an attempt and the last one fails, a request to slow down never does."""
    lease = leased.lease
    counts = isinstance(passing, (ModelUnavailable, WorkRaced))
    if counts and lease.attempts >= ports.settings.hindsight_api_retain_max_attempts:
        return fail(ports, tenant_id, leased, account, passing)
    wait_s = _wait(ports, lease, passing)
    try:
        defer(ports, tenant_id, lease, passing, account, wait_s, counts=counts)
    except WorkSuperseded as superseded:
        return overtaken(ports, tenant_id, account, superseded)
    return Attempt("deferred", account.totals, passing, wait_s)


def _wait(ports: RetainPorts, lease: Lease, passing: HindsightError) -> float:
    if isinstance(passing, WorkDeferred):
        if type(passing) is WorkDeferred and passing.until is None:
            return 0.0
        if passing.until is not None:
            asked = (passing.until - ports.clock.now()).total_seconds()
            return min(max(asked, 1.0), _LONGEST_WAIT_S)
    return min(_FIRST_WAIT_S * 2.0 ** min(lease.fence - 1, 10), _LONGEST_WAIT_S)


def fail(
    ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, account: Account, final: HindsightError
) -> Attempt:
    """Ends the operation as failed; nothing of it is stored, and what its calls cost is in the ledger."""
    try:
        to_wake = give_up(ports, tenant_id, leased.lease, final, account)
    except WorkSuperseded as superseded:
        return overtaken(ports, tenant_id, account, superseded)
    wake(ports, tenant_id, leased, to_wake)
    return Attempt("failed", account.totals, final)


def overtaken(ports: RetainPorts, tenant_id: TenantId, account: Account, superseded: WorkSuperseded) -> Attempt:
    """Leaves the operation to whoever took it over, or ended it; what the calls cost is in the ledger all the same."""
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.usage.record(lines)
    return Attempt("absent", account.totals, superseded)


def wake(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, to_wake: ToWake) -> None:
    """Wakes whoever has work now, after the commit that made it."""
    reached(points.BEFORE_WAKEUP)
    config = config_of(ports.settings, leased.bank, None)
    if to_wake.scopes and config.enable_observations and config.enable_auto_consolidation:
        ports.wakeups.wake_scopes(tenant_id, leased.bank.bank_id, to_wake.scopes)
    if to_wake.operations:
        ports.wakeups.wake_operations(tenant_id, to_wake.operations)
