"""What the use cases of webhooks need of the world.  Made by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.outbound import Outbound, WebhookMessages
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class DeliverPorts:
    """What the side with the database needs."""

    store: Store
    wakeups: Wakeups
    messages: WebhookMessages
    clock: Clock
    settings: Settings


@dataclass(frozen=True, slots=True)
class SendPorts:
    """What the side with the internet needs."""

    outbound: Outbound
    messages: WebhookMessages
    clock: Clock
