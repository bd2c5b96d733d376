"""The reception of the convert queue: a message names an operation, the operation's rows say what to do.

Called by functions/convert; calls files.
"""

from __future__ import annotations

from hindsight_aws.files import ConversionPorts, run_conversion
from hindsight_aws.jobs.operation import work_on
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.operations.attempt import Attempt


def convert(ports: ConversionPorts, body: str, seconds: float) -> Outcome:
    """Converts the file of the operation that the message names, and says what became of it.

    Guarantees: as `work_on`.
    """

    def run(tenant_id: TenantId, operation_id: OperationId) -> Attempt:
        return run_conversion(ports, tenant_id, operation_id, seconds)

    return work_on(body, run, ports.retain.wakeups.wake_conversions)
