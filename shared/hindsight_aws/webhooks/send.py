"""The side of deliveries that has the internet: makes the one request of an order.  Called by jobs/send.py."""

from __future__ import annotations

import logging

from hindsight_aws.model.webhook import Order
from hindsight_aws.webhooks.messages import receipt_to_text
from hindsight_aws.webhooks.ports import SendPorts

_log = logging.getLogger(__name__)


def send(ports: SendPorts, order: Order) -> None:
    """Makes the request and reports what came back.

    An order whose lease is about to run out is dropped: the sweep has it made anew, with a signature of its own.
    """
    if ports.clock.now().timestamp() > order.not_after:
        _log.warning("delivery %s came too late to be sent", order.attempt.delivery_id)
        return
    receipt = ports.outbound.post(order)
    _log.info("delivery %s: %s", order.attempt.delivery_id, receipt.status or receipt.error)
    ports.messages.to_deliver(order.attempt.tenant_id, receipt_to_text(order.attempt, receipt))
