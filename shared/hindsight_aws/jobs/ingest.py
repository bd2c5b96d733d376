"""The reception of the ingest queue: a message names an operation, the operation's rows say what to do.

Called by functions/ingest; calls retain.
"""

from __future__ import annotations

import logging
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.message import ids_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.retain import Attempt, RetainPorts, abandon, run_retain

_log = logging.getLogger(__name__)

_LEAST_WORTH_STARTING_S: Final = 1.0
LAST_DELIVERY: Final = 5
"""The queue's `max_receive_count`."""
_LONGEST_DELAY_S: Final = 900
"""What a message can be delayed by; the sweep wakes what waits longer."""
_TRY_AGAIN_S: Final = 60
"""When an operation whose rows could not be read or written is looked at again."""


def ingest(ports: RetainPorts, body: str, seconds: float, deliveries: int = 1) -> Outcome:
    """Runs the operation the message names, within about `seconds`, and says what the queue is to do with the message.

    A message that was delivered so often that the next time it goes to the dead letters is not tried again: workers
    died of it, and its operation says so.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of, never answers LATER.
    """
    try:
        tenant, operation = ids_of(body, "tenant_id", "operation_id")
    except ValueError:
        _log.exception("a message that names no operation was dropped")
        return Outcome.PARK
    tenant_id, operation_id = TenantId(tenant), OperationId(operation)
    if seconds < _LEAST_WORTH_STARTING_S:
        ports.wakeups.wake_operations(tenant_id, [operation_id])
        return Outcome.DONE
    try:
        if deliveries >= LAST_DELIVERY:
            attempt = abandon(ports, tenant_id, operation_id, deliveries)
        else:
            attempt = run_retain(ports, tenant_id, operation_id, seconds)
    except HindsightError as error:
        _log.warning("operation %s was not done: %s", operation_id, error)
        return not_done(error, lambda: ports.wakeups.wake_operations(tenant_id, [operation_id], _TRY_AGAIN_S))
    return _settled(ports, tenant_id, operation_id, attempt)


def _settled(ports: RetainPorts, tenant_id: TenantId, operation_id: OperationId, attempt: Attempt) -> Outcome:
    _log.info("operation %s: %s", operation_id, attempt.state)
    if attempt.state == "deferred":
        if attempt.wait_s <= _LONGEST_DELAY_S:
            ports.wakeups.wake_operations(tenant_id, [operation_id], round(attempt.wait_s))
        return Outcome.DONE
    if attempt.state == "failed" and attempt.error is not None:
        _log.error("operation %s failed: %s: %s", operation_id, type(attempt.error).__name__, attempt.error)
        return Outcome.PARK
    return Outcome.DONE
