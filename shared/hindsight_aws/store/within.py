"""Bounds the time of what is read in a part of a transaction, which goes on whatever comes of it.

Called by store/recall.py; calls sql/transaction.sql.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("transaction")


@contextmanager
def within(session: Session, timeout_ms: int) -> Iterator[None]:
    """Every statement inside takes at most so long.

    Afterwards all settings are as they were, and what it wrote is gone.

    Raises: DatabaseTooSlow for a statement that took longer.
    """
    with session.pipeline():
        session.send(_SQL["mark_part"])
        session.send(_SQL["bound_part"], timeout_ms=str(max(1, timeout_ms)))
    try:
        yield
    except psycopg.errors.QueryCanceled as slow:
        session.cut()
        session.send(_SQL["back_to_part"])
        raise DatabaseTooSlow("a statement took longer than what is left of the time") from slow
    session.send(_SQL["back_to_part"])
