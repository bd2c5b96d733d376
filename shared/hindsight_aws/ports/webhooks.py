"""Webhooks of banks, and the events they are told of, which are written in the commit of what they tell of.

Called by use cases; kept by store/webhooks.py.  Delivering is the work of others, who find the rows: see deliveries.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.webhook import HttpConfig, Webhook, WebhookEvent
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """What a caller says of a hook."""

    url: str
    secret: str | None
    event_types: tuple[str, ...]
    is_enabled: bool
    http: HttpConfig


@dataclass(frozen=True, slots=True)
class WebhookChange:
    """What to change; None leaves it as it is, but for the secret, which `sets_secret` takes away or replaces."""

    url: str | None = None
    secret: str | None = None
    sets_secret: bool = False
    event_types: tuple[str, ...] | None = None
    is_enabled: bool | None = None
    http: HttpConfig | None = None


class Webhooks(Protocol):
    """The hooks and events of the transaction's tenant."""

    def tell(self, bank_id: BankId, events: Sequence[WebhookEvent]) -> bool:
        """Writes events down, each once: one that is there already stays as it is.

        Whether a hook of the bank listens, and somebody is to be woken after the commit.
        """
        ...

    def tell_of_round(self, bank_id: BankId, *, everywhere: bool) -> bool:
        """Tells of what consolidation did by itself, once all that waited for it in the bank has ended.

        Writes an ended operation that the event names.  Nothing where nobody listens, neither a hook of the bank nor,
        with `everywhere`, the server's.  Of those who end a round at once one tells of it.  Whether somebody is to be
        woken after the commit.
        """
        ...

    def page(self, bank_id: BankId, *, limit: int, offset: int) -> Page[Webhook]:
        """The bank's hooks, the oldest first."""
        ...

    def exists(self, bank_id: BankId, webhook_id: UUID) -> bool:
        """Whether the bank has this hook."""
        ...

    def add(self, bank_id: BankId, webhook_id: UUID, hook: NewWebhook, at_most: int) -> Webhook | None:
        """Writes a new hook; None when the bank has `at_most` already."""
        ...

    def change(self, bank_id: BankId, webhook_id: UUID, change: WebhookChange) -> Webhook | None:
        """Changes a hook; None when there is none.  One that is enabled again is told of what comes from then on."""
        ...

    def remove(self, bank_id: BankId, webhook_id: UUID) -> bool:
        """Removes a hook with its deliveries; whether it was there."""
        ...
