"""Limits of tenants in Postgres.  Called through ports/limits.py; calls sql/limits.sql."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.limits import DAY, LimitAlert, Limits, Parking, Reserved, Spent, Standing
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("limits")


class PostgresTenantLimits:
    """The limits of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self) -> Limits | None:
        return _limits(self._session.row(_SQL["find"]))

    def find_alone(self) -> Limits | None:
        if self._session.row(_SQL["find_alone"]) is None:
            return None
        limits = self.find()  # again: the first read may be from before a wait for whoever was changing them
        return limits if limits is not None and limits.bounds_models else None

    def set(self, limits: Limits) -> None:
        self._session.execute(_SQL["alone"])
        self._session.execute(
            _SQL["set"],
            requests_per_minute=limits.requests_per_minute,
            requests_per_day=limits.requests_per_day,
            tokens_per_day=limits.tokens_per_day,
            usd_per_day=limits.usd_per_day,
            alert_share=limits.alert_share,
        )
        self._session.execute(_SQL["unpark"])

    def clear(self) -> bool:
        self._session.execute(_SQL["alone"])
        self._session.execute(_SQL["unpark"])
        return self._session.execute(_SQL["clear"]) == 1

    def spent(self, start: datetime, end: datetime) -> Spent:
        before, since = self._added_up(start)
        row = self._session.row(_SQL["spent"], since=since, end=end)
        if row is None:
            return before
        late = Spent(**row)
        return Spent(
            tokens=before.tokens + late.tokens,
            usd=before.usd + late.usd,
            unpriced_input=before.unpriced_input + late.unpriced_input,
            unpriced_output=before.unpriced_output + late.unpriced_output,
            requests=before.requests + late.requests,
            settled=late.settled,
        )

    def add_up(self, start: datetime, end: datetime) -> None:
        self._session.execute(_SQL["add_up"], start=start, end=end)

    def requests(self, day: datetime, minute: datetime) -> tuple[int, int]:
        before, since = self._added_up(day)
        row = self._session.row(_SQL["requests"], since=since, end=day + DAY, minute=minute)
        return (before.requests, 0) if row is None else (before.requests + row["of_day"], row["of_minute"])

    def _added_up(self, start: datetime) -> tuple[Spent, datetime]:
        """What of the day is added up, and since when lines are to be read: a value, which the planner can estimate."""
        row = self._session.row(_SQL["added_up"], start=start)
        if row is None:
            return Spent(), start
        since = row.pop("upto")
        return Spent(**row), since

    def reserved(self, but: UUID | None, now: datetime) -> Reserved:
        row = self._session.row(_SQL["reserved"], but=but, now=now)
        return Reserved() if row is None else Reserved(**row)

    def reserve(self, reservation_id: UUID, most: Reserved, now: datetime, until: datetime) -> None:
        self._session.execute(_SQL["drop_expired"], now=now)
        self._session.execute(
            _SQL["reserve"], reservation_id=reservation_id, usd=most.usd, tokens=most.tokens, until=until
        )

    def release(self, reservation_id: UUID) -> None:
        self._session.execute(_SQL["release"], reservation_id=reservation_id)

    def standing(self, now: datetime) -> Standing:
        row = self._session.row(_SQL["standing"], now=now)
        if row is None:
            return Standing()
        until = row["parked_until"]
        return Standing(row["is_bounded"], None if until is None else Parking(until, row["limit_name"], row["reason"]))

    def park(self, parking: Parking, now: datetime) -> None:
        self._session.execute(
            _SQL["park"], until=parking.until, limit_name=parking.limit, reason=parking.reason, now=now
        )

    def alert(self, day: datetime, alerts: Sequence[LimitAlert]) -> None:
        told = [
            {"limit_name": one.limit, "share": str(one.share), "spent": str(one.spent), "cap": str(one.cap)}
            for one in alerts
        ]
        self._session.execute(_SQL["alert"], day=day.date(), alerts=Jsonb(told))

    def take_alerts(self) -> list[LimitAlert]:
        return [
            LimitAlert(row["limit_name"], row["share"], row["spent"], row["cap"])
            for row in self._session.rows(_SQL["take_alerts"])
        ]


def _limits(row: Row | None) -> Limits | None:
    if row is None:
        return None
    return Limits(**row)
