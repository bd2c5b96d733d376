"""The way out: one request to a receiver that somebody named, and the messages between `deliver` and `send`."""

from __future__ import annotations

from typing import Protocol

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.webhook import Order, Receipt


class Outbound(Protocol):
    """Calls receivers on the internet."""

    def post(self, order: Order) -> Receipt:
        """Makes the request and says what came back; never raises for what a receiver or its name does.

        The name is resolved once; an address that is not public is not connected to, and the one that was looked at is
        the one that is called.  Redirects are not followed, and no body is read.
        """
        ...


class WebhookMessages(Protocol):
    """Carries orders to the function that has the internet, and receipts back to the one that has the database.

    What cannot be sent is logged without its content and left: the lease runs out, and the sweep finds the row.
    """

    def to_send(self, tenant_id: TenantId, body: str) -> None:
        """An order."""
        ...

    def to_deliver(self, tenant_id: TenantId, body: str, delay_s: int = 0) -> None:
        """A receipt, or what else `deliver` is to look at, not before `delay_s` seconds have passed."""
        ...
