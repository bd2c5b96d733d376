"""The reception of the consolidation queue: a message names a scope, the scope's rows say what to do.

Called by functions/consolidate; calls consolidate.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from uuid import UUID

from hindsight_aws.consolidate.drain import drain
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.outcomes import Outcome, outcome_of
from hindsight_aws.model.ids import BankId, ScopeId, TenantId
from hindsight_aws.model.scope import ScopeAddress

_log = logging.getLogger(__name__)

_TRY_AGAIN_S = 30
"""After a database that was away or a race with another worker; the lease may have to run out first."""


def consolidate(ports: ConsolidationPorts, body: str, seconds_left: Callable[[], float]) -> Outcome:
    """Drains the scope the message names and says what the queue is to do with the message.

    What is to be done later gets a wake-up of its own and the message is acknowledged, as in jobs/ingest.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of, never answers LATER.
    """
    try:
        where = _read(body)
    except (ValueError, KeyError, TypeError):
        _log.exception("a message that names no scope was dropped")
        return Outcome.PARK
    try:
        ended = drain(ports, where, seconds_left)
    except HindsightError as error:
        _log.warning("scope %s was not drained: %s: %s", where.scope_id, type(error).__name__, error)
        if outcome_of(error) is not Outcome.LATER:
            return outcome_of(error)
        ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, [ScopeId(where.scope_id)], _TRY_AGAIN_S)
        return Outcome.DONE
    _log.info("scope %s: %s", where.scope_id, ended.value)
    return Outcome.DONE


def _read(body: str) -> ScopeAddress:
    message = json.loads(body)
    return ScopeAddress(
        TenantId(UUID(str(message["tenant_id"]))), BankId(UUID(str(message["bank_id"]))), UUID(str(message["scope_id"]))
    )
