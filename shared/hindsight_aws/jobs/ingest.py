"""The reception of the ingest queue: a message names an operation, the operation's rows say what to do.

Called by functions/ingest; calls retain.
"""

from __future__ import annotations

import logging
from typing import Final

from hindsight_aws.jobs.operation import work_on
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.retain import Attempt, RetainPorts, abandon, run_retain
from hindsight_aws.telemetry import memory_span

_log = logging.getLogger(__name__)

_LEAST_WORTH_STARTING_S: Final = 1.0
LAST_DELIVERY: Final = 5
"""The queue's `max_receive_count`."""


def ingest(ports: RetainPorts, body: str, seconds: float, deliveries: int = 1) -> Outcome:
    """Runs the operation the message names, within about `seconds`, and says what became of it.

    A message that was delivered so often that the next time it goes to the dead letters is not tried again: workers
    died of it, and its operation says so.

    Guarantees: as `work_on`.
    """

    def run(tenant_id: TenantId, operation_id: OperationId) -> Attempt:
        if seconds < _LEAST_WORTH_STARTING_S:
            return Attempt("deferred")
        if deliveries >= LAST_DELIVERY:
            return _told(operation_id, abandon(ports, tenant_id, operation_id, deliveries))
        with memory_span("upsert_memory"):
            return _told(operation_id, run_retain(ports, tenant_id, operation_id, seconds))

    return work_on(body, run, ports.wakeups.wake_operations)


def _told(operation_id: OperationId, attempt: Attempt) -> Attempt:
    if attempt.state == "failed" and attempt.error is not None:
        _log.error("operation %s failed: %s: %s", operation_id, type(attempt.error).__name__, attempt.error)
    return attempt
