"""A run leaves nothing in memory, and its answer goes with what it quotes."""

from __future__ import annotations

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.reflect import runs
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.reflect.asked import ROME, WHERE
from tests.support.database import Database
from tests.support.reflect import done, make_rig


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def test_nothing_is_written_into_memory_and_the_steps_texts_go(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)

    rig.answer(WHERE)

    with psycopg.connect(database.admin_url) as admin:
        counts = {
            table: admin.execute(
                f"SELECT count(*) FROM hindsight.{table} WHERE tenant_id = %s".encode(), (tenant,)
            ).fetchone()
            for table in ("memory_units", "observation_revisions", "documents", "reflect_steps")
        }
    assert counts == {"memory_units": (1,), "observation_revisions": (0,), "documents": (0,), "reflect_steps": (0,)}


def test_answers_are_forgotten_with_what_they_quote(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    asked = runs.submit(rig.door, rig.principal, "bank", WHERE)

    with store.transaction(tenant) as tx:
        tx.reflect.forget_answers(rig.bank_id)
    fresh = rig.ask(WHERE)

    assert rig.find(asked.run_id).answer is None
    assert fresh.run_id != asked.run_id
