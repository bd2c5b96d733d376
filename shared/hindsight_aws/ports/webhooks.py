"""Events for webhooks, written in the commit of what they tell of.  Called by use cases; kept by store/webhooks.py.

Delivering them is the work of others, who find the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.webhook import WebhookEvent


class Webhooks(Protocol):
    """The events of the transaction's tenant."""

    def tell(self, bank_id: BankId, events: Sequence[WebhookEvent]) -> None:
        """Writes events down, each once: one that is there already stays as it is."""
        ...
