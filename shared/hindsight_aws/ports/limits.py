"""Limits of a tenant as the database keeps them: the limits, the day's sums, reservations, parking and alerts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.limits import LimitAlert, Limits, Parking, Reserved, Spent, Standing


class TenantLimits(Protocol):
    """The limits of the transaction's tenant."""

    def find(self) -> Limits | None:
        """Its limits; None when it has none."""
        ...

    def find_alone(self) -> Limits | None:
        """The same where they bound model calls, and until the commit nobody else is told: admissions come in turn.

        It waits for others, and nothing is locked after it.
        """
        ...

    def set(self, limits: Limits) -> None:
        """Puts the limits in place of former ones, and ends the parking: work that is over them parks anew.

        It waits for admissions under way, so that none of them parks by former limits.  For the owner's role alone.
        """
        ...

    def clear(self) -> bool:
        """Takes the limits away, and ends the parking; False if there were none.  For the owner's role alone."""
        ...

    def spent(self, start: datetime, end: datetime) -> Spent:
        """What the ledger holds of the day from `start` on and before `end`."""
        ...

    def add_up(self, start: datetime, end: datetime) -> None:
        """Adds up the day's lines that are settled, so that nobody reads them again."""
        ...

    def requests(self, day: datetime, minute: datetime) -> tuple[int, int]:
        """How many requests were counted since the day began, and since the minute began."""
        ...

    def reserved(self, but: UUID | None, now: datetime) -> Reserved:
        """What calls under way may cost at most, those of the reservation `but` left out."""
        ...

    def reserve(self, reservation_id: UUID, most: Reserved, now: datetime, until: datetime) -> None:
        """Writes down what a unit of work's calls may cost, in place of what it reserved; drops what has expired."""
        ...

    def release(self, reservation_id: UUID) -> None:
        """Gives back what a unit of work had reserved."""
        ...

    def standing(self, now: datetime) -> Standing:
        """Whether there are limits on models, and why model work waits at this moment, if it does: one row read."""
        ...

    def park(self, parking: Parking, now: datetime) -> None:
        """Has model work wait."""
        ...

    def alert(self, day: datetime, alerts: Sequence[LimitAlert]) -> None:
        """Writes alerts down, each once a day."""
        ...

    def take_alerts(self) -> list[LimitAlert]:
        """Alerts that nobody was told of; from the commit on they count as told."""
        ...
