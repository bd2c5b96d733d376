"""The reception of the transfer queue: a message names an operation, the operation's rows say what to do.

Called by functions/transfer; calls transfer and reembedding.
"""

from __future__ import annotations

from hindsight_aws.jobs.operation import EndedAttempt, work_on
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.operation import REEMBED
from hindsight_aws.reembedding.ports import ReembeddingPorts
from hindsight_aws.reembedding.run import run_reembedding
from hindsight_aws.transfer.ports import TransferPorts
from hindsight_aws.transfer.run import run_transfer


def work(transfers: TransferPorts, reembeddings: ReembeddingPorts, body: str, seconds: float) -> Outcome:
    """Does what the message names, a transfer or a re-embedding, and says what became of it.

    Guarantees: as `work_on`.
    """

    def run(tenant_id: TenantId, operation_id: OperationId) -> EndedAttempt:
        with reembeddings.store.transaction(tenant_id) as tx:
            operation = tx.operations.find(operation_id)
        if operation is not None and operation.kind == REEMBED:
            return run_reembedding(reembeddings, tenant_id, operation_id, seconds)
        return run_transfer(transfers, tenant_id, operation_id, seconds)

    return work_on(body, run, transfers.wakeups.wake_transfers)


def transfer(ports: TransferPorts, body: str, seconds: float) -> Outcome:
    """Does the transfer that the message names, and says what became of it.  Guarantees: as `work_on`."""

    def run(tenant_id: TenantId, operation_id: OperationId) -> EndedAttempt:
        return run_transfer(ports, tenant_id, operation_id, seconds)

    return work_on(body, run, ports.wakeups.wake_transfers)
