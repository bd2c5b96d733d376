"""One Postgres connection per execution environment: opened late, checked on use, replaced when it broke.

Called by store/postgres.py.  Connecting is retried for a bounded time: a paused database takes seconds to resume.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.pq import TransactionStatus

from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.model.metric import Metric
from hindsight_aws.telemetry import measure_once

Row = dict[str, Any]
PgConnection = psycopg.Connection[Any]

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0


def unavailable(message: str) -> DatabaseUnavailable:
    """The error to raise where there is no database; the event in hand counts as one that found none."""
    measure_once(Metric.DATABASE_UNAVAILABLE)
    return DatabaseUnavailable(message)


class ConnectionHolder:
    """Promises a usable connection or DatabaseUnavailable within `connect_for_s` seconds.

    Not for use by several threads.
    """

    def __init__(self, conninfo: Callable[[], str], connect_for_s: float) -> None:
        self._conninfo = conninfo
        self._connect_for_s = connect_for_s
        self._connection: PgConnection | None = None

    def get(self) -> PgConnection:
        """The held connection, idle, outside a transaction and able to prepare statements; opened anew if need be.

        Raises: DatabaseUnavailable.
        """
        held = self._connection
        if held is not None and _is_as_good_as_new(held):
            return held
        self.drop()
        self._connection = self._connect()
        return self._connection

    def drop(self) -> None:
        """Closes the held connection; the next `get` opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> PgConnection:
        give_up_at = time.monotonic() + self._connect_for_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                connection = psycopg.connect(self._conninfo(), autocommit=True, prepare_threshold=2, connect_timeout=5)
            except psycopg.OperationalError as broken:
                if time.monotonic() + pause > give_up_at:
                    raise unavailable("the database did not accept a connection in time") from broken
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)
            else:
                register_vector(connection)
                return connection


def _is_as_good_as_new(held: PgConnection) -> bool:
    """Whether another event may use it; not one that store/session.py told to prepare nothing any more."""
    is_idle = not held.closed and held.info.transaction_status == TransactionStatus.IDLE
    return is_idle and held.prepare_threshold is not None
