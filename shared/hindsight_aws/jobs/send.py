"""The reception of the send queue: a message holds the one request that is to be made.

Called by functions/send; calls webhooks.
"""

from __future__ import annotations

import logging

from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.webhooks.messages import order_of
from hindsight_aws.webhooks.ports import SendPorts
from hindsight_aws.webhooks.send import send as make

_log = logging.getLogger(__name__)


def send(ports: SendPorts, body: str) -> Outcome:
    """Makes the request that the message holds, and says what became of it.

    Guarantees: never raises for what a receiver does; a message that comes late is dropped.  One that comes twice may
    make its request twice: a receiver knows it by the delivery's id.
    """
    try:
        order = order_of(body)
    except ValueError:
        _log.error("a message that holds no order was dropped")  # its trace would show the message
        return Outcome.GIVEN_UP
    make(ports, order)
    return Outcome.DONE
