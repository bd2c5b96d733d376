"""The reception of the convert queue: a message names an operation, the operation's rows say what to do.

Called by functions/convert; calls files.
"""

from __future__ import annotations

import json
import logging
from typing import Final
from uuid import UUID

from hindsight_aws.errors import HindsightError
from hindsight_aws.files import ConversionPorts, run_conversion
from hindsight_aws.jobs.outcomes import Outcome, outcome_of
from hindsight_aws.model.ids import OperationId, TenantId

_log = logging.getLogger(__name__)

_TRY_AGAIN_S: Final = 60
"""When an operation whose rows could not be read or written is looked at again."""


def convert(ports: ConversionPorts, body: str, seconds: float) -> Outcome:
    """Converts the file of the operation that the message names, and says what the queue is to do with the message.

    What is to be done later gets a wake-up of its own and the message is acknowledged.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of, never answers LATER.
    """
    try:
        message = json.loads(body)
        tenant_id, operation_id = TenantId(UUID(message["tenant_id"])), OperationId(UUID(message["operation_id"]))
    except (AttributeError, ValueError, KeyError, TypeError):
        _log.exception("a message that names no operation was dropped")
        return Outcome.PARK
    try:
        attempt = run_conversion(ports, tenant_id, operation_id, seconds)
    except HindsightError as error:
        _log.warning("conversion %s was not done: %s", operation_id, error)
        if outcome_of(error) is not Outcome.LATER:
            return outcome_of(error)
        ports.retain.wakeups.wake_conversions(tenant_id, [operation_id], _TRY_AGAIN_S)
        return Outcome.DONE
    _log.info("conversion %s: %s", operation_id, attempt.state)
    if attempt.state == "deferred":
        ports.retain.wakeups.wake_conversions(tenant_id, [operation_id], round(attempt.wait_s))
        return Outcome.DONE
    return Outcome.PARK if attempt.state == "failed" else Outcome.DONE
