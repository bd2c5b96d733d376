"""Events that webhooks tell of, the hooks of banks, and what becomes of each telling.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID, uuid5

from hindsight_aws.model.ids import BankId, TenantId

CONSOLIDATION_COMPLETED: Final = "consolidation.completed"
MEMORY_DEFENSE_TRIGGERED: Final = "memory_defense.triggered"
RETAIN_COMPLETED: Final = "retain.completed"
_NAMESPACE: Final = UUID("6f0f1d52-7a1f-4c0c-8b57-3b6f1ea8f0c4")
EventStatus = Literal["completed", "failed"]
DeliveryStatus = Literal["pending", "completed", "failed"]


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """One thing to tell: the end of an operation, or, with `about`, of one part of it, such as a document.

    `data` holds ids, tags and counts, never text of a memory.
    """

    event: str
    operation_id: UUID
    status: EventStatus
    data: Mapping[str, object] = field(default_factory=dict)
    about: str = ""

    @property
    def event_id(self) -> UUID:
        """The same for the same end of the same operation, however often it is told."""
        return uuid5(_NAMESPACE, "\n".join((self.event, str(self.operation_id), self.status, self.about)))


@dataclass(frozen=True, slots=True)
class HttpConfig:
    """How a receiver is called, besides the headers and the body that every delivery has."""

    method: str = "POST"
    timeout_seconds: int = 30
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A hook of a bank, as it is shown: its secret is not part of it."""

    id: UUID
    url: str
    event_types: tuple[str, ...]
    is_enabled: bool
    http: HttpConfig
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one hook, as it is shown."""

    id: UUID
    event_id: UUID
    webhook_id: UUID | None
    url: str
    event: str
    status: DeliveryStatus
    attempts: int
    due_at: datetime
    last_error: str | None
    last_status: int | None
    last_attempt_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt at which delivery is meant; of several only the one with the last `fence` counts."""

    tenant_id: TenantId
    bank_id: BankId
    delivery_id: UUID
    fence: int


@dataclass(frozen=True, slots=True)
class Order:
    """What `send` is to do: one request, signed already, not to be made after `not_after` (seconds since 1970).

    `url` and `headers` are whole: of `http` only the method and the patience are left.
    """

    attempt: Attempt
    url: str
    http: HttpConfig
    headers: Mapping[str, str]
    body: str
    not_after: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a receiver answered: a status, or else why there was none."""

    status: int | None
    error: str | None = None
