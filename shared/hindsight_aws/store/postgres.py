"""The Store over Postgres: opens tenant-bound transactions, whose repositories transaction.py hands out.

Made by runtime.py; calls transaction.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, WorkRaced
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.marks import WorkMark
from hindsight_aws.ports.store import Backlog, DueBy, DueWork
from hindsight_aws.ports.tenants import KeyRecord
from hindsight_aws.ports.tracing import Attribute, SpanKind
from hindsight_aws.store.connection import ConnectionHolder, PgConnection, unavailable
from hindsight_aws.store.index import write_counts
from hindsight_aws.store.queries import Query, queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.transaction import PostgresTransaction
from hindsight_aws.telemetry import span

__all__ = ["PostgresStore", "PostgresTransaction"]

_TRANSACTION = queries("transaction")
_CROSSING = queries("crossing")
_SPAN: Mapping[str, Attribute] = {"db.system.name": "postgresql", "db.operation.name": "transaction"}
_RACES = (
    psycopg.errors.ForeignKeyViolation,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.LockNotAvailable,
)


class PostgresStore:
    """A Store on one connection: for an execution environment, which handles one event at a time."""

    def __init__(
        self,
        conninfo: Callable[[], str],
        connect_for_s: float = 20.0,
        statement_timeout_ms: int = 25_000,
        mark: WorkMark | None = None,
    ) -> None:
        self._holder = ConnectionHolder(conninfo, connect_for_s)
        self._timeout_ms = statement_timeout_ms
        self._mark = mark

    @contextmanager
    def transaction(self, tenant_id: TenantId) -> Iterator[PostgresTransaction]:
        with self._unit(tenant_id, "begin") as transaction:
            yield transaction

    @contextmanager
    def snapshot(self, tenant_id: TenantId) -> Iterator[PostgresTransaction]:
        with self._unit(tenant_id, "begin_snapshot") as transaction:
            yield transaction

    @contextmanager
    def _unit(self, tenant_id: TenantId, how: str) -> Iterator[PostgresTransaction]:
        with span("postgresql transaction", SpanKind.CLIENT, _SPAN):
            yield from self._transacted(tenant_id, how)

    def _transacted(self, tenant_id: TenantId, how: str) -> Iterator[PostgresTransaction]:
        connection = self._begin(tenant_id, how)
        try:
            session = Session(connection, tenant_id)
            yield PostgresTransaction(session)
            write_counts(session)
        except _RACES as raced:
            self._abandon(connection)
            raise WorkRaced("another transaction came in between") from raced
        except psycopg.OperationalError as broken:
            self._abandon(connection)
            if isinstance(broken, psycopg.errors.QueryCanceled):
                raise DatabaseTooSlow("a statement took longer than HINDSIGHT_STATEMENT_TIMEOUT_MS allows") from broken
            raise unavailable("the database connection broke") from broken
        except (psycopg.DataError, psycopg.IntegrityError) as refused:
            self._abandon(connection)
            raise DatabaseRefused(f"the database refused a row: {refused.sqlstate}") from refused
        except BaseException:
            self._abandon(connection)
            raise
        reached("store.before_commit")
        self._commit(connection)
        reached("store.after_commit")

    def resolve_key(self, key_hash: bytes) -> KeyRecord | None:
        found = self._cross(_CROSSING["resolve_key"], {"key_hash": key_hash})
        if not found:
            return None
        row = found[0]
        return KeyRecord(
            tenant_id=row["tenant_id"],
            key_id=row["key_id"],
            key_hash=row["key_hash"],
            first_key_id=row["first_key_id"],
            subject=row["subject"],
            permissions=frozenset(row["permissions"]),
            bank_patterns=tuple(row["bank_patterns"]),
            forced_tags=row["forced_tags"],
            fact_types=None if row["fact_types"] is None else frozenset(row["fact_types"]),
            exact_scopes=None if row["exact_scopes"] is None else tuple(tuple(tags) for tags in row["exact_scopes"]),
            is_expired=row["is_expired"],
            is_revoked=row["is_revoked"],
            is_suspended=row["is_suspended"],
            is_use_to_note=row["is_use_to_note"],
        )

    def due_work(self, at_most: int, due_by: DueBy) -> list[DueWork]:
        asked: dict[str, object] = {"at_most": at_most, **asdict(due_by)}
        found = self._cross(_CROSSING["due_work"], asked)
        return [DueWork(row["tenant_id"], row["kind"], row["bank_id"], row["id"]) for row in found]

    def backlog(self, due_by: DueBy) -> Backlog:
        found = self._cross(_CROSSING["backlog"], asdict(due_by))

        def by_kind(measure: str) -> dict[str, float]:
            return {row["kind"]: row["amount"] for row in found if row["measure"] == measure}

        return Backlog(
            due={kind: int(amount) for kind, amount in by_kind("due").items()},
            oldest_s=by_kind("oldest"),
            failed={kind: int(amount) for kind, amount in by_kind("failed").items()},
            oldest_fact_s=max(by_kind("oldest_fact").values(), default=0.0),
            parked_tenants=int(sum(by_kind("parked").values())),
        )

    def next_due(self, due_by: DueBy) -> datetime | None:
        found: datetime | None = self._cross(_CROSSING["next_due"], asdict(due_by))[0]["next_due"]
        return found

    def close(self) -> None:
        """Closes the connection; the next use opens another (before a snapshot, and at the end of a test)."""
        self._holder.drop()

    def _begin(self, tenant_id: UUID, how: str) -> PgConnection:
        """An open transaction bound to the tenant, in one round trip.

        A connection that died while idle is replaced once.  Where marks are wanted, one is set first.
        """
        if self._mark is not None:
            self._mark.touch()
        for last_try in (False, True):
            connection = self._holder.get()
            try:
                with connection.pipeline():
                    connection.execute(_TRANSACTION[how].text)
                    connection.execute(
                        _TRANSACTION["bind_tenant"].text,
                        {"tenant_id": str(tenant_id), "timeout_ms": str(self._timeout_ms)},
                    )
            except psycopg.OperationalError as broken:
                self._holder.drop()
                if last_try:
                    raise unavailable("the database connection broke") from broken
            else:
                return connection
        raise AssertionError("unreachable")

    def _commit(self, connection: PgConnection) -> None:
        try:
            # Never prepared: that takes a round trip of its own, and there is nothing to plan.
            connection.execute(_TRANSACTION["commit"].text, prepare=False)
        except psycopg.OperationalError as broken:
            self._holder.drop()
            raise unavailable("the database connection broke while committing") from broken

    def _abandon(self, connection: PgConnection) -> None:
        try:
            connection.execute(_TRANSACTION["rollback"].text)
        except psycopg.Error:
            self._holder.drop()

    def _cross(self, query: Query, params: dict[str, object]) -> list[dict[str, Any]]:
        for last_try in (False, True):
            connection = self._holder.get()
            try:
                with connection.cursor(row_factory=dict_row) as cursor:
                    return cursor.execute(query.text, params).fetchall()
            except psycopg.OperationalError as broken:
                self._holder.drop()
                if last_try:
                    raise unavailable("the database connection broke") from broken
        raise AssertionError("unreachable")
