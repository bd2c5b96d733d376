"""Runs named queries inside one tenant-bound transaction.

Made by store/postgres.py, used by every repository of store/.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row, tuple_row

from hindsight_aws.store.connection import PgConnection, Row
from hindsight_aws.store.queries import Query

_ROWS_AT_ONCE = 200


class Session:
    """A transaction in which row-level security sees one tenant.

    Every query gets `%(tenant_id)s` as well: each statement has the predicate, the policy is the second lock.
    """

    __slots__ = ("connection", "counts", "tenant_id")

    def __init__(self, connection: PgConnection, tenant_id: UUID) -> None:
        self.connection = connection
        self.tenant_id = tenant_id
        self.counts: dict[UUID, dict[str, tuple[int, int]]] = {}
        """By how much counters change, by bank and type: store/index.py gathers it and writes it last."""

    def rows(self, query: Query, **params: object) -> list[Row]:
        """Every row of the answer, as a dict by column."""
        with self.connection.cursor(row_factory=dict_row, binary=True) as cursor:
            return cursor.execute(query.text, self._bound(params)).fetchall()

    def row(self, query: Query, **params: object) -> Row | None:
        """The first row, or None."""
        with self.connection.cursor(row_factory=dict_row, binary=True) as cursor:
            return cursor.execute(query.text, self._bound(params)).fetchone()

    def tuples(self, query: Query, **params: object) -> list[tuple[Any, ...]]:
        """Every row of the answer as a tuple: the cheap form, for answers of many rows."""
        with self.connection.cursor(row_factory=tuple_row, binary=True) as cursor:
            return cursor.execute(query.text, self._bound(params)).fetchall()

    def execute(self, query: Query, **params: object) -> int:
        """Runs a statement that answers no rows; returns how many rows it touched."""
        with self.connection.cursor() as cursor:
            return cursor.execute(query.text, self._bound(params)).rowcount

    def send(self, query: Query, **params: object) -> psycopg.Cursor[tuple[Any, ...]]:
        """Starts a query and returns its cursor.

        Inside `pipeline()` the answer is fetched later, without a round trip of its own.
        """
        cursor = self.connection.cursor(row_factory=tuple_row, binary=True)
        return cursor.execute(query.text, self._bound(params))

    def stream(self, query: Query, **params: object) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, held by the server until they are asked for: of a large answer few are ever here."""
        with self.connection.cursor(name="stream", row_factory=tuple_row) as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            yield from cursor.execute(query.text, self._bound(params))

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        """Statements sent inside share round trips; the first failure aborts the rest."""
        with self.connection.pipeline():
            yield

    def cut(self) -> None:
        """Prepares no statement any more, and uses none that was: called once a pipeline was cut and goes on.

        psycopg takes what was sent behind the statement that failed for prepared, and the server never saw it.
        """
        self.connection.prepare_threshold = None

    def _bound(self, params: dict[str, object]) -> dict[str, object]:
        params["tenant_id"] = self.tenant_id
        return params
