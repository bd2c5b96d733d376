"""The reception of the convert queue: a message names an operation, the operation's rows say what to do.

Called by functions/convert; calls files.
"""

from __future__ import annotations

import logging
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.files import ConversionPorts, run_conversion
from hindsight_aws.jobs.message import ids_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId

_log = logging.getLogger(__name__)

_TRY_AGAIN_S: Final = 60
"""When an operation whose rows could not be read or written is looked at again."""


def convert(ports: ConversionPorts, body: str, seconds: float) -> Outcome:
    """Converts the file of the operation that the message names, and says what the queue is to do with the message.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of, never answers LATER.
    """
    try:
        tenant, operation = ids_of(body, "tenant_id", "operation_id")
    except ValueError:
        _log.exception("a message that names no operation was dropped")
        return Outcome.PARK
    tenant_id, operation_id = TenantId(tenant), OperationId(operation)
    try:
        attempt = run_conversion(ports, tenant_id, operation_id, seconds)
    except HindsightError as error:
        _log.warning("conversion %s was not done: %s", operation_id, error)
        return not_done(error, lambda: ports.retain.wakeups.wake_conversions(tenant_id, [operation_id], _TRY_AGAIN_S))
    _log.info("conversion %s: %s", operation_id, attempt.state)
    if attempt.state == "deferred":
        ports.retain.wakeups.wake_conversions(tenant_id, [operation_id], round(attempt.wait_s))
        return Outcome.DONE
    return Outcome.PARK if attempt.state == "failed" else Outcome.DONE
