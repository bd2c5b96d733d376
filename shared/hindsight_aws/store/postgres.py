"""The Store over Postgres: opens tenant-bound transactions and hands out their repositories.

Made by runtime.py; calls the repositories of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from hindsight_aws.errors import DatabaseRefused, DatabaseTooSlow, DatabaseUnavailable, WorkRaced
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.store import DueWork, KeyRecord
from hindsight_aws.store.banks import PostgresBanks
from hindsight_aws.store.compaction import PostgresCompactions
from hindsight_aws.store.connection import ConnectionHolder, PgConnection
from hindsight_aws.store.consolidation import PostgresConsolidation
from hindsight_aws.store.curation import PostgresCuration
from hindsight_aws.store.documents import PostgresDocuments
from hindsight_aws.store.entities import PostgresEntities
from hindsight_aws.store.graph import PostgresGraphs
from hindsight_aws.store.index import write_counts
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.memories import PostgresMemories
from hindsight_aws.store.observations import PostgresObservations
from hindsight_aws.store.operations import PostgresOperations
from hindsight_aws.store.queries import Query, queries
from hindsight_aws.store.rebuilds import PostgresRebuilds
from hindsight_aws.store.recall import PostgresRecallReads
from hindsight_aws.store.reflect import PostgresReflectRuns
from hindsight_aws.store.runs import PostgresRuns
from hindsight_aws.store.scopes import PostgresScopes
from hindsight_aws.store.session import Session
from hindsight_aws.store.stats import PostgresStats
from hindsight_aws.store.tags import PostgresTags
from hindsight_aws.store.tenants import PostgresTenants
from hindsight_aws.store.uploads import PostgresUploads
from hindsight_aws.store.usage import PostgresUsageLedger
from hindsight_aws.store.webhooks import PostgresWebhooks

_TRANSACTION = queries("transaction")
_CROSSING = queries("crossing")
_RACES = (
    psycopg.errors.ForeignKeyViolation,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.LockNotAvailable,
)


class PostgresTransaction:
    """The repositories of one transaction, each made when first asked for."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @cached_property
    def recall(self) -> PostgresRecallReads:
        return PostgresRecallReads(self.session)

    @cached_property
    def reflect(self) -> PostgresReflectRuns:
        return PostgresReflectRuns(self.session)

    @cached_property
    def tenants(self) -> PostgresTenants:
        return PostgresTenants(self.session)

    @cached_property
    def consolidation(self) -> PostgresConsolidation:
        return PostgresConsolidation(self.session)

    @cached_property
    def compactions(self) -> PostgresCompactions:
        return PostgresCompactions(self.session)

    @cached_property
    def webhooks(self) -> PostgresWebhooks:
        return PostgresWebhooks(self.session)

    @cached_property
    def runs(self) -> PostgresRuns:
        return PostgresRuns(self.session)

    @cached_property
    def rebuilds(self) -> PostgresRebuilds:
        return PostgresRebuilds(self.session)

    @cached_property
    def observations(self) -> PostgresObservations:
        return PostgresObservations(self.session)

    @cached_property
    def uploads(self) -> PostgresUploads:
        return PostgresUploads(self.session)

    @cached_property
    def operations(self) -> PostgresOperations:
        return PostgresOperations(self.session)

    @cached_property
    def documents(self) -> PostgresDocuments:
        return PostgresDocuments(self.session)

    @cached_property
    def memories(self) -> PostgresMemories:
        return PostgresMemories(self.session)

    @cached_property
    def links(self) -> PostgresLinks:
        return PostgresLinks(self.session)

    @cached_property
    def curation(self) -> PostgresCuration:
        return PostgresCuration(self.session)

    @cached_property
    def entities(self) -> PostgresEntities:
        return PostgresEntities(self.session)

    @cached_property
    def scopes(self) -> PostgresScopes:
        return PostgresScopes(self.session)

    @cached_property
    def tags(self) -> PostgresTags:
        return PostgresTags(self.session)

    @cached_property
    def graphs(self) -> PostgresGraphs:
        return PostgresGraphs(self.session)

    @cached_property
    def stats(self) -> PostgresStats:
        return PostgresStats(self.session)

    @cached_property
    def usage(self) -> PostgresUsageLedger:
        return PostgresUsageLedger(self.session)

    def together(self) -> AbstractContextManager[None]:
        return self.session.pipeline()

    @cached_property
    def banks(self) -> PostgresBanks:
        return PostgresBanks(self.session)


class PostgresStore:
    """A Store on one connection: for an execution environment, which handles one event at a time."""

    def __init__(
        self, conninfo: Callable[[], str], connect_for_s: float = 20.0, statement_timeout_ms: int = 25_000
    ) -> None:
        self._holder = ConnectionHolder(conninfo, connect_for_s)
        self._timeout_ms = statement_timeout_ms

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
            raise DatabaseUnavailable("the database connection broke") from broken
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
            subject=row["subject"],
            permissions=frozenset(row["permissions"]),
            bank_patterns=tuple(row["bank_patterns"]),
            forced_tags=row["forced_tags"],
            fact_types=None if row["fact_types"] is None else frozenset(row["fact_types"]),
            exact_scopes=None if row["exact_scopes"] is None else tuple(tuple(tags) for tags in row["exact_scopes"]),
            is_expired=row["is_expired"],
            is_revoked=row["is_revoked"],
        )

    def due_work(
        self,
        at_most: int,
        *,
        observations: bool,
        auto_consolidation: bool,
        server_policy: str | None = None,
        retention_days: int = 0,
        compaction_seconds: float = 0.0,
    ) -> list[DueWork]:
        asked: dict[str, object] = {
            "at_most": at_most,
            "observations": observations,
            "auto_consolidation": auto_consolidation,
            "server_policy": server_policy,
            "retention_days": retention_days,
            "compaction_seconds": compaction_seconds,
        }
        found = self._cross(_CROSSING["due_work"], asked)
        return [DueWork(row["tenant_id"], row["kind"], row["bank_id"], row["id"]) for row in found]

    def close(self) -> None:
        """Closes the connection; the next use opens another (before a snapshot, and at the end of a test)."""
        self._holder.drop()

    def _begin(self, tenant_id: UUID, how: str) -> PgConnection:
        """An open transaction bound to the tenant, in one round trip.

        A connection that died while idle is replaced once.
        """
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
                    raise DatabaseUnavailable("the database connection broke") from broken
            else:
                return connection
        raise AssertionError("unreachable")

    def _commit(self, connection: PgConnection) -> None:
        try:
            # Never prepared: that takes a round trip of its own, and there is nothing to plan.
            connection.execute(_TRANSACTION["commit"].text, prepare=False)
        except psycopg.OperationalError as broken:
            self._holder.drop()
            raise DatabaseUnavailable("the database connection broke while committing") from broken

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
                    raise DatabaseUnavailable("the database connection broke") from broken
        raise AssertionError("unreachable")
