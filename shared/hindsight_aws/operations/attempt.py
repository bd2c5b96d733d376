"""How an attempt at an operation ends that did not do all of it: put off, or failed, under the fence of its lease.

Called by the use cases whose work is an operation: files, transfer, reembedding, and retain for its waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from hindsight_aws.errors import HindsightError, WorkSuperseded
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.ports.wakeups import LONGEST_DELAY_S

FIRST_WAIT_S: Final = 5.0
LONGEST_WAIT_S: Final = float(LONGEST_DELAY_S)
"""As long as a message can be delayed."""

AttemptState = Literal["completed", "failed", "deferred", "busy", "absent"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt came to.

    `completed` and `failed` are on the row.  `deferred`: to be gone on with after `wait_s`, for the reason in `error`.
    `busy`: somebody else holds the operation.  `absent`: no such work, or none left.
    """

    state: AttemptState
    error: HindsightError | None = None
    wait_s: float = 0.0


def backoff(times: int) -> float:
    """Seconds to wait after `times` attempts in vain, of which there is one at least: doubling, and bounded."""
    return min(FIRST_WAIT_S * 2.0 ** min(times - 1, 10), LONGEST_WAIT_S)


def defer(
    store: Store,
    tenant_id: TenantId,
    lease: Lease,
    passing: HindsightError,
    wait_s: float = 0.0,
    *,
    counts: bool = False,
    also: Callable[[Transaction], object] | None = None,
) -> Attempt:
    """Gives the operation back until `wait_s` has passed; `counts`: as one of the attempts it has.

    `also`: what is written in the same commit.  Guarantees: changes nothing where another has taken over.
    """
    try:
        with store.transaction(tenant_id) as tx:
            tx.operations.defer(lease, wait_s, counts=counts, reason=str(passing))
            if also is not None:
                also(tx)
    except WorkSuperseded as superseded:
        return Attempt("absent", superseded)
    return Attempt("deferred", passing, wait_s)


def fail(
    store: Store,
    tenant_id: TenantId,
    lease: Lease,
    final: HindsightError,
    *,
    also: Callable[[Transaction], object] | None = None,
) -> Attempt:
    """Ends the operation as failed; its payload stays, for a retry.

    `also`: what is written, or read, in the same commit.  Guarantees: changes nothing where another has taken over.
    """
    try:
        with store.transaction(tenant_id) as tx:
            tx.operations.fail(lease, type(final).__name__, str(final), {}, lease.payload)
            if also is not None:
                also(tx)
    except WorkSuperseded as superseded:
        return Attempt("absent", superseded)
    return Attempt("failed", final)


def fail_unreadable(tx: Transaction, lease: Lease, unreadable: Exception) -> None:
    """Ends an operation as failed whose payload cannot be read, in the transaction that has leased it."""
    reason = f"the work as written down cannot be read: {unreadable!r}"
    tx.operations.fail(lease, type(unreadable).__name__, reason, {}, lease.payload)
