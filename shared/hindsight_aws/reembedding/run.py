"""Embeds a bank anew, or goes on doing so: lease, vectors batch by batch, then all of them serve by one commit.

Called by the transfer job; calls make, adopt and move, and drop for one that has ended.
"""

from __future__ import annotations

import time
from dataclasses import replace

from hindsight_aws.errors import (
    PASSING_FAULTS,
    DatabaseRefused,
    HindsightError,
    InvalidRequest,
    LimitReached,
    ModelError,
    VectorsReplaced,
    WorkCrashed,
    WorkDeferred,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.operation import REEMBED, Lease
from hindsight_aws.operations.attempt import FIRST_WAIT_S, Attempt, backoff, defer, fail
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reembedding import points
from hindsight_aws.reembedding.adopt import adopt
from hindsight_aws.reembedding.drop import drop_left
from hindsight_aws.reembedding.make import Making
from hindsight_aws.reembedding.move import move
from hindsight_aws.reembedding.ports import ReembeddingPorts
from hindsight_aws.reembedding.submit import too_large
from hindsight_aws.usage.allowance import parked


def run_reembedding(ports: ReembeddingPorts, tenant_id: TenantId, operation_id: OperationId, seconds: float) -> Attempt:
    """One attempt at the operation, taking about `seconds` at most.

    Guarantees: at any moment one attempt at most can commit; a vector that was made and kept is not paid for again
    while its text stays; of a bank all vectors are replaced or none; once they serve, it is gone on with until all are
    in place, whatever happens.
    Raises: DatabaseUnavailable; the rows then say what is left to do.
    """
    give_up_at = time.monotonic() + seconds
    with ports.store.transaction(tenant_id) as tx:
        operation = tx.operations.find(operation_id)
        if operation is None or operation.kind != REEMBED:
            return Attempt("absent")
        # Vectors that serve are put in place without a model, which nobody has to wait a day for.
        asks_models = operation.is_open and not tx.vectors.is_adopted(operation.bank_id, operation_id)
        if asks_models and (limit := parked(tx, ports.clock.now())) is not None:
            return Attempt("deferred", limit, _seconds_until(ports, limit))
        lease = tx.operations.lease(operation_id, ports.settings.hindsight_reembed_lease_seconds, REEMBED)
    if not operation.is_open:
        return drop_left(ports.store, tenant_id, operation, give_up_at)
    if lease is None:
        return Attempt("busy")
    reached(points.AFTER_LEASE)
    return _outcome(ports, tenant_id, lease, give_up_at)


def _outcome(ports: ReembeddingPorts, tenant_id: TenantId, lease: Lease, give_up_at: float) -> Attempt:
    try:
        if not _work(ports, tenant_id, lease, give_up_at):
            return _defer(ports, tenant_id, lease, WorkDeferred("time is up; another message goes on"))
    except WorkSuperseded as superseded:
        return Attempt("absent", superseded)
    except LimitReached as limit:
        # Parked work stays due: whoever raises the limit need not touch it.
        return replace(_defer(ports, tenant_id, lease, limit), wait_s=_seconds_until(ports, limit))
    except VectorsReplaced as early:
        return _defer(ports, tenant_id, lease, early)
    except PASSING_FAULTS as fault:
        if lease.attempts >= ports.settings.hindsight_reembed_max_attempts:
            return _fail(ports, tenant_id, lease, fault)
        return _defer(ports, tenant_id, lease, fault, backoff(lease.attempts), counts=True)
    except WorkDeferred as deferred:
        wait_s = backoff(lease.fence) if deferred.until is None else _seconds_until(ports, deferred)
        return _defer(ports, tenant_id, lease, deferred, wait_s)
    except (InvalidRequest, DatabaseRefused, ModelError, WorkCrashed) as final:
        return _fail(ports, tenant_id, lease, final)
    return Attempt("completed")


def _work(ports: ReembeddingPorts, tenant_id: TenantId, lease: Lease, give_up_at: float) -> bool:
    """Makes what is not made yet, has it serve, and puts it in place; False when the time was up before its end."""
    model = str(lease.payload["model"])
    with ports.store.transaction(tenant_id) as tx:
        is_adopted = tx.vectors.is_adopted(lease.bank_id, lease.operation_id)
    if not is_adopted and not _adopted(ports, tenant_id, lease, model, give_up_at):
        return False
    return move(ports, tenant_id, lease, give_up_at)


def _adopted(ports: ReembeddingPorts, tenant_id: TenantId, lease: Lease, model: str, give_up_at: float) -> bool:
    """Makes what is not made yet and has it serve; False when the time was up before."""
    embedder = ports.embedder.of(model)
    if embedder is None:
        raise InvalidRequest(f"model: this deployment does not serve {model} any more")
    if lease.attempts > ports.settings.hindsight_reembed_max_attempts:
        raise WorkCrashed(f"given up after {lease.attempts - 1} attempts that did not come to an end")
    with ports.store.transaction(tenant_id) as tx:
        total, made = tx.vectors.left_over(lease.bank_id, model), tx.vectors.made(lease)
    if total > ports.settings.hindsight_reembed_max_vectors:
        raise too_large(ports.settings.hindsight_reembed_max_vectors)
    making = Making(ports, tenant_id, lease, embedder, give_up_at, made, total)
    if not making.run():
        return False
    adopt(making)
    return True


def _seconds_until(ports: ReembeddingPorts, deferred: WorkDeferred) -> float:
    if deferred.until is None:
        return FIRST_WAIT_S
    return max((deferred.until - ports.clock.now()).total_seconds(), 1.0)


def _defer(
    ports: ReembeddingPorts,
    tenant_id: TenantId,
    lease: Lease,
    passing: HindsightError,
    wait_s: float = 0.0,
    *,
    counts: bool = False,
) -> Attempt:
    """Gives the operation back; vectors may be written again meanwhile."""

    def also(tx: Transaction) -> None:
        tx.vectors.open(lease.bank_id)

    return defer(ports.store, tenant_id, lease, passing, wait_s, counts=counts, also=also)


def _fail(ports: ReembeddingPorts, tenant_id: TenantId, lease: Lease, final: HindsightError) -> Attempt:
    """Ends the operation as failed: the former vectors go on serving, and nothing of the new ones stays.

    Once the new ones serve there is no way back, and it is put off instead.
    """
    with ports.store.transaction(tenant_id) as tx:
        is_adopted = tx.vectors.is_adopted(lease.bank_id, lease.operation_id)
    if is_adopted:
        return _defer(ports, tenant_id, lease, final, backoff(lease.fence))

    has_left = False

    def also(tx: Transaction) -> None:
        nonlocal has_left
        has_left = tx.vectors.drop(lease.bank_id, lease.operation_id)
        tx.vectors.open(lease.bank_id)

    failed = fail(ports.store, tenant_id, lease, final, also=also)
    if has_left:
        ports.wakeups.wake_transfers(tenant_id, [lease.operation_id])
    return failed
