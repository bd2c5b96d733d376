"""The reception of wake-ups for link maintenance: a message names a bank, the bank's queue says what to do.

They come on the ingest queue, told apart by their kind.  Called by functions/ingest; calls links.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Final
from uuid import UUID

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.outcomes import Outcome, outcome_of
from hindsight_aws.links.maintain import maintain
from hindsight_aws.links.ports import LinkPorts
from hindsight_aws.model.ids import BankId, TenantId

_log = logging.getLogger(__name__)

_KIND: Final = "links"
_TRY_AGAIN_S: Final = 60
"""After a database that was away or a race with another writer; the lease may have to run out first."""


def is_about_links(body: str) -> bool:
    """Whether a message of the ingest queue wakes link maintenance."""
    try:
        message = json.loads(body)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("kind") == _KIND


def tend_links(ports: LinkPorts, body: str, seconds_left: Callable[[], float]) -> Outcome:
    """Tends the links of the bank the message names and says what the queue is to do with the message.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of, never answers LATER.
    """
    try:
        tenant_id, bank_id = _read(body)
    except (ValueError, KeyError, TypeError):
        _log.exception("a message that names no bank was dropped")
        return Outcome.PARK
    try:
        ended = maintain(ports, tenant_id, bank_id, seconds_left)
    except HindsightError as error:
        _log.warning("links of bank %s were not tended: %s: %s", bank_id, type(error).__name__, error)
        if outcome_of(error) is not Outcome.LATER:
            return outcome_of(error)
        ports.wakeups.wake_links(tenant_id, bank_id, _TRY_AGAIN_S)
        return Outcome.DONE
    _log.info("links of bank %s: %s", bank_id, ended.value)
    return Outcome.DONE


def _read(body: str) -> tuple[TenantId, BankId]:
    message = json.loads(body)
    return TenantId(UUID(str(message["tenant_id"]))), BankId(UUID(str(message["bank_id"])))
