"""Carries erasures on that are not over: rows and stored files that are left, receipts that nobody signed yet.

Called by the sweep, and by functions/ingest, on whose queue their wake-ups come, told apart by their kind.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Final

from hindsight_aws.erasure import ErasurePorts, carry_on
from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.message import ids_of, kind_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.erasure import ErasureId
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.store import DueWork

_log = logging.getLogger(__name__)

_KIND: Final = "erasure"
LONGEST_S: Final = 25.0
"""How long one sweep works on erasures; its function may run for 60 s."""
TURN_S: Final = 60.0
"""How long one message works on its erasure, before those of others have their turn."""
_TRY_AGAIN_S: Final = 120
"""When an erasure is looked at again whose rows could not be reached: its lease has run out by then."""


def is_about_erasure(body: str) -> bool:
    """Whether a message of the ingest queue wakes an erasure."""
    return kind_of(body) == _KIND


def carry_erasure_on(ports: ErasurePorts, body: str, seconds: float) -> Outcome:
    """Works on the erasure that the message names, for TURN_S or the `seconds` there are.

    Guarantees: a message that comes twice, late or for nothing changes nothing; an erasure that is to be gone on with
    has its own wake-up.  Never raises what the product knows of.
    """
    try:
        tenant, erasure = ids_of(body, "tenant_id", "erasure_id")
    except ValueError:
        _log.exception("a message that names no erasure was dropped")
        return Outcome.GIVEN_UP
    tenant_id, erasure_id = TenantId(tenant), ErasureId(erasure)
    try:
        carry_on(ports, tenant_id, erasure_id, min(seconds, TURN_S))
    except HindsightError as error:
        _log.warning("erasure %s was not carried on: %s: %s", erasure_id, type(error).__name__, error)
        return not_done(error, lambda: ports.wakeups.wake_erasure(tenant_id, erasure_id, _TRY_AGAIN_S))
    return Outcome.DONE


def tend_erasures(ports: ErasurePorts, due: Iterable[DueWork], seconds: float = LONGEST_S) -> None:
    """Works on each erasure that is due, those due for longest first, while there is time.

    Guarantees: one that fails is logged and costs no other its turn.
    """
    until = time.monotonic() + seconds
    for work in due:
        left = until - time.monotonic()
        if left <= 0:
            break
        try:
            carry_on(ports, work.tenant_id, ErasureId(work.id), left)
        except HindsightError as error:
            _log.warning("erasure %s was not carried on: %s: %s", work.id, type(error).__name__, error)
