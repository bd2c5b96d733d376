"""What a transaction promises when the database says no."""

from __future__ import annotations

import psycopg
import pytest

from hindsight_aws.errors import DatabaseTooSlow, DatabaseUnavailable
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import Query
from tests.support.database import Database

_SLOW = Query("slow", "Takes a second.", b"SELECT pg_sleep(1), %(tenant_id)s::uuid")
_TENANT = Query("tenant", "Whose transaction this is.", b"SELECT current_setting('app.tenant_id'), %(tenant_id)s::uuid")


def test_a_statement_past_its_time_is_told_and_the_next_transaction_works(database: Database, tenant: TenantId) -> None:
    store = PostgresStore(lambda: database.write_url, statement_timeout_ms=50)

    with pytest.raises(DatabaseTooSlow), store.transaction(tenant) as tx:
        tx.session.rows(_SLOW)

    with store.transaction(tenant) as tx:
        assert tx.session.tuples(_TENANT) == [(str(tenant), tenant)]
    store.close()


def test_a_connection_that_died_while_idle_is_replaced_without_an_error(
    database: Database, tenant: TenantId, store: PostgresStore
) -> None:
    with store.transaction(tenant) as tx:
        tx.session.tuples(_TENANT)

    _end_sessions(database)

    with store.transaction(tenant) as tx:
        assert tx.session.tuples(_TENANT) == [(str(tenant), tenant)]


def test_a_connection_that_dies_in_mid_transaction_is_told_as_such(
    database: Database, tenant: TenantId, store: PostgresStore
) -> None:
    def work() -> None:
        with store.transaction(tenant) as tx:
            _end_sessions(database)
            tx.session.tuples(_TENANT)

    with pytest.raises(DatabaseUnavailable):
        work()


def _end_sessions(database: Database) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hindsight_write'")
