"""A clock that runs faster than the wall's: what waits in the database comes nearer by what the wall did not pass."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

import psycopg

from tests.support.world import World

_WAITING: Final = {
    "operations": ("status IN ('pending', 'processing')", ("due_at", "lease_until", "created_at")),
    "consolidation_work": ("state <> 'done'", ("due_at", "failed_at", "created_at")),
    "webhook_deliveries": ("status = 'pending'", ("due_at", "lease_until")),
    "link_maintenance": ("true", ("due_at",)),
    "scopes": ("lease_until > now()", ("lease_until",)),
    "documents": ("lease_until > now()", ("lease_until",)),
    "banks": ("link_lease_until > now()", ("link_lease_until",)),
}
"""The tables with rows that wait for a moment: which rows those are, and where they keep it."""


@dataclass
class ScaledClock:
    """Tells scaled seconds since it was made, `speed` of them in one of the wall's."""

    world: World
    speed: float
    began: float = field(default_factory=time.monotonic)
    _passed: float = 0.0

    def now(self) -> float:
        """Scaled seconds."""
        return (time.monotonic() - self.began) * self.speed

    def let_pass(self) -> None:
        """Brings what waits nearer; rows that somebody holds keep their moment until the next time."""
        now = self.now()
        ahead = (now - self._passed) * (1 - 1 / self.speed)
        self._passed = now
        try:
            for table, (waiting, columns) in _WAITING.items():
                moved = ", ".join(f"{column} = {column} - make_interval(secs => %s)" for column in columns)
                held = f"SELECT ctid FROM {table} WHERE {waiting} FOR UPDATE SKIP LOCKED"
                self.world.sql_done(
                    f"UPDATE {table} SET {moved} WHERE ctid = ANY(ARRAY({held}))", *[ahead] * len(columns)
                )
        except psycopg.OperationalError:
            self.world.reconnect()
