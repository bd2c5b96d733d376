"""The reception of the deliver queue: a message names a bank, a delivery, or what came of an attempt at one.

Called by functions/deliver; calls webhooks.
"""

from __future__ import annotations

import logging
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.message import TRY_AGAIN_S, ids_of, kind_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.webhooks.deliver import fan_out, hand_over, settle
from hindsight_aws.webhooks.messages import RECEIPT, receipt_of
from hindsight_aws.webhooks.ports import DeliverPorts

_log = logging.getLogger(__name__)

_EVENTS: Final = "events"


def deliver(ports: DeliverPorts, body: str) -> Outcome:
    """Does what the message asks for, and says what became of it.

    Guarantees: a message that comes twice, late or for nothing changes nothing.  Never raises what the product knows
    of.
    """
    try:
        tenant, bank = ids_of(body, "tenant_id", "bank_id")
        kind = kind_of(body)
        receipt = receipt_of(body) if kind == RECEIPT else None
        delivery_id = None if kind in (RECEIPT, _EVENTS) else ids_of(body, "delivery_id")[0]
    except ValueError:
        _log.error("a message that names no delivery was dropped")  # its trace would show the message
        return Outcome.GIVEN_UP
    tenant_id, bank_id = TenantId(tenant), BankId(bank)
    try:
        if receipt is not None:
            settle(ports, *receipt)
        elif delivery_id is not None:
            hand_over(ports, tenant_id, bank_id, delivery_id)
        else:
            fan_out(ports, tenant_id, bank_id)
    except HindsightError as error:
        _log.warning("webhooks of bank %s were not tended to: %s: %s", bank_id, type(error).__name__, error)
        return not_done(error, lambda: ports.messages.to_deliver(tenant_id, body, TRY_AGAIN_S))
    return Outcome.DONE
