"""Waiting until a session of the database waits for a lock: what makes a race a test and not a coin."""

from __future__ import annotations

import time

import psycopg

from tests.support.database import Database

_PATIENCE_S = 60.0


def until_blocked(database: Database, sessions: int = 1) -> None:
    """Returns when that many sessions wait for a lock.  Raises AssertionError when they do not within a minute."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    give_up_at = time.monotonic() + _PATIENCE_S
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        while admin.execute(waiting).fetchone() != (sessions,):
            assert time.monotonic() < give_up_at, "nobody waits for a lock"
            time.sleep(0.01)
