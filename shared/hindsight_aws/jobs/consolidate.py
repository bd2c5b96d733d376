"""The reception of the consolidation queue: a message names a scope, or a bank whose refreshes wait; rows say the rest.

Called by functions/consolidate; calls consolidate and mental_models.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from hindsight_aws.consolidate.drain import drain
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.message import ids_of, kind_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.refreshes import after_drain, start_waiting
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.model.ids import BankId, ScopeId, TenantId
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.telemetry import memory_span

_log = logging.getLogger(__name__)

_REFRESHES = "refreshes"
_TRY_AGAIN_S = 30
"""After a database that was away or a race with another worker; the lease may have to run out first."""


def consolidate(ports: ConsolidationPorts, body: str, seconds_left: Callable[[], float], pages: PagesDoor) -> Outcome:
    """Drains the scope the message names and says what became of it.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of.
    """
    if kind_of(body) == _REFRESHES:
        return _refreshes(body, pages)
    try:
        tenant_id, bank_id, scope_id = ids_of(body, "tenant_id", "bank_id", "scope_id")
    except ValueError:
        _log.exception("a message that names no scope was dropped")
        return Outcome.GIVEN_UP
    where = ScopeAddress(TenantId(tenant_id), BankId(bank_id), scope_id)
    try:
        with memory_span("consolidate") as opened:
            ended = drain(ports, where, seconds_left)
            opened.set({"hindsight.ended": ended.value})
    except HindsightError as error:
        _log.warning("scope %s was not drained: %s: %s", where.scope_id, type(error).__name__, error)
        scopes = [ScopeId(where.scope_id)]
        return not_done(error, lambda: ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, scopes, _TRY_AGAIN_S))
    _log.info("scope %s: %s", where.scope_id, ended.value)
    after_drain(pages, where.tenant_id, where.bank_id)
    return Outcome.DONE


def _refreshes(body: str, pages: PagesDoor) -> Outcome:
    try:
        tenant_id, bank_id = ids_of(body, "tenant_id", "bank_id")
    except ValueError:
        _log.exception("a message that names no bank was dropped")
        return Outcome.GIVEN_UP
    start_waiting(pages, TenantId(tenant_id), BankId(bank_id))
    return Outcome.DONE
