"""Deliveries: one row for each event and hook, leased, tried, settled.  Kept by store/deliveries.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.webhook import Delivery, DeliveryStatus, HttpConfig, Receipt


@dataclass(frozen=True, slots=True)
class FannedOut:
    """How many events were looked at, and the deliveries that were written for them."""

    events: int
    deliveries: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class ServerHook:
    """The server's own hook, which hears of every bank; None: there is none."""

    url: str | None
    event_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery under its lease, with all that its request is made of.  `lease_until` is in seconds since 1970."""

    delivery_id: UUID
    fence: int
    attempts: int
    url: str
    is_enabled: bool
    event_id: UUID
    event: str
    bank: str
    operation_id: UUID
    status: str
    data: Mapping[str, object]
    created_at: datetime
    lease_until: float
    http: HttpConfig
    secret: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class PutOff:
    """A delivery that is not tried now: it has ended, or is due in so many seconds."""

    has_ended: bool
    wait_seconds: float


class Deliveries(Protocol):
    """The deliveries of the transaction's tenant."""

    def fan_out(self, bank_id: BankId, server: ServerHook, at_most: int) -> FannedOut:
        """Writes a delivery for each hook that wants an event, for at most so many events; each pair once, for ever.

        Events that another worker is at are left to it.
        """
        ...

    def claim(self, bank_id: BankId, delivery_id: UUID, lease_seconds: float) -> Claimed | None:
        """Takes the lease of a delivery that is due and counts the attempt; None when it is not, or is held."""
        ...

    def put_off(self, bank_id: BankId, delivery_id: UUID, at_once: int, longest_seconds: float) -> PutOff | None:
        """Puts off, uncounted, a due delivery whose hook rests, or failed last and is asked `at_once` times already.

        One that was written more than `longest_seconds` ago ends as failed instead.  None: nothing keeps it.
        """
        ...

    def note_answer(self, bank_id: BankId, delivery_id: UUID, fence: int, *, is_taken: bool, patience: int) -> None:
        """Counts failures in a row on the hook; from the one numbered `patience` on it rests, the longer the more.

        Called before `attempts`, for hooks are locked before deliveries; changes nothing when the fence has moved.
        """
        ...

    def attempts(self, bank_id: BankId, delivery_id: UUID, fence: int) -> int | None:
        """How often a delivery was tried, locked until the commit; None when the fence moved or it has ended."""
        ...

    def settle(
        self,
        bank_id: BankId,
        delivery_id: UUID,
        fence: int,
        status: DeliveryStatus,
        receipt: Receipt,
        wait_seconds: float = 0.0,
    ) -> None:
        """Writes down what an attempt came to; a delivery that stays pending is due after `wait_seconds`."""
        ...

    def abandon(self, bank_id: BankId, delivery_id: UUID, fence: int, why: str) -> None:
        """Ends a delivery as failed whose attempt was counted and is not made."""
        ...

    def page(
        self, bank_id: BankId, webhook_id: UUID, *, limit: int, before: tuple[datetime, UUID] | None
    ) -> list[Delivery]:
        """A hook's deliveries, newest first, those before a place: the time and id of the last one shown."""
        ...
