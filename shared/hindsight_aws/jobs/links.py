"""The reception of wake-ups for link maintenance: a message names a bank, the bank's queue says what to do.

They come on the ingest queue, told apart by their kind.  Called by functions/ingest; calls links.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.message import TRY_AGAIN_S, ids_of, kind_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.links.maintain import maintain
from hindsight_aws.links.ports import LinkPorts
from hindsight_aws.model.ids import BankId, TenantId

_log = logging.getLogger(__name__)

_KIND: Final = "links"


def is_about_links(body: str) -> bool:
    """Whether a message of the ingest queue wakes link maintenance."""
    return kind_of(body) == _KIND


def tend_links(ports: LinkPorts, body: str, seconds_left: Callable[[], float]) -> Outcome:
    """Tends the links of the bank the message names and says what became of it.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of.
    """
    try:
        tenant, bank = ids_of(body, "tenant_id", "bank_id")
    except ValueError:
        _log.exception("a message that names no bank was dropped")
        return Outcome.GIVEN_UP
    tenant_id, bank_id = TenantId(tenant), BankId(bank)
    try:
        ended = maintain(ports, tenant_id, bank_id, seconds_left)
    except HindsightError as error:
        _log.warning("links of bank %s were not tended: %s: %s", bank_id, type(error).__name__, error)
        return not_done(error, lambda: ports.wakeups.wake_links(tenant_id, bank_id, TRY_AGAIN_S))
    _log.info("links of bank %s: %s", bank_id, ended.value)
    return Outcome.DONE
