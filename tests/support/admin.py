"""The superuser's way into a test's database: one kept connection instead of one for every look and every row.

A new server process reads the catalog and plans its statements anew, 10 to 60 ms for what a kept one does in one.
Called by the fixtures of tests/support/database.py and by whoever writes or reads rows behind the product's back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.pq import TransactionStatus

_Connection = psycopg.Connection[tuple[object, ...]]
_OPTIONS = "-c search_path=hindsight,public"

_kept: dict[str, _Connection] = {}


def keep(url: str) -> None:
    """Opens the connection that `admin` lends until `let_go`."""
    _kept[url] = _open(url)


def let_go(url: str) -> None:
    """Closes the kept connection, if there is one."""
    if url in _kept:
        _kept.pop(url).close()


@contextmanager
def admin(url: str) -> Iterator[_Connection]:
    """Lends a superuser's connection, in autocommit, that finds the product's tables without their schema's name.

    It is the kept one on the main thread while that is idle, and otherwise a new one.
    """
    kept = _kept.get(url)
    if kept is None or threading.current_thread() is not threading.main_thread() or not _is_idle(kept):
        with _open(url) as own:
            yield own
    else:
        yield kept


@contextmanager
def changing(url: str) -> Iterator[_Connection]:
    """The same in a transaction that finds each row by an index.

    What the server plans for its foreign keys is kept: made on an empty table, it must not read a large one whole.
    """
    with admin(url) as connection, connection.transaction():
        connection.execute("SET LOCAL enable_seqscan = off")
        yield connection


def _open(url: str) -> _Connection:
    return psycopg.connect(url, autocommit=True, options=_OPTIONS)


def _is_idle(connection: _Connection) -> bool:
    return not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
