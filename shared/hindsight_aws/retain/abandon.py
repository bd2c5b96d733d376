"""Ends a round of attempts at an operation that workers die of, without reading what it is about.

Called by the ingest job on a message's last delivery, before the message would go to the dead letters.
"""

from __future__ import annotations

from hindsight_aws.errors import WorkCrashed
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.settle import fail
from hindsight_aws.usage.allowance import Allowance


def abandon(ports: RetainPorts, tenant_id: TenantId, operation_id: OperationId, deliveries: int) -> Attempt:
    """Lets the operation wait long, or fails it, unless somebody holds it, it is not due, or it has ended.

    Raises: DatabaseUnavailable.
    """
    with ports.store.transaction(tenant_id) as tx:
        lease = tx.operations.lease(operation_id, ports.settings.hindsight_retain_lease_seconds)
    if lease is None:
        return Attempt("busy")
    died = WorkCrashed(f"workers died of it, in {deliveries - 1} deliveries of its message")
    return fail(ports, tenant_id, lease, Account(lease, Allowance(tenant_id, ports.clock)), died)
