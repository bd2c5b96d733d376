"""Who asks the same is given the same run: one that is going, or whose answer nobody was given."""

from __future__ import annotations

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.reflect.asked import ROME, WHERE
from tests.support.database import Database
from tests.support.reflect import done, make_rig


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def test_equal_requests_share_a_run_that_is_going(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.workflows.runs = False

    first, second = (runs.submit(rig.door, rig.principal, "bank", WHERE) for _ in range(2))
    other = runs.submit(rig.door, rig.principal, "bank", ReflectRequest("Another question?"))
    stranger = runs.submit(rig.door, Principal(tenant, "someone else"), "bank", WHERE)

    assert first.run_id == second.run_id
    assert len({first.run_id, other.run_id, stranger.run_id}) == 3
    assert rig.workflows.started == [first.run_id, other.run_id, stranger.run_id]


def test_an_answer_that_nobody_was_given_is_given_to_the_next_equal_request(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    asked = runs.submit(rig.door, rig.principal, "bank", WHERE)

    joined = rig.ask(WHERE)
    fresh = rig.ask(WHERE)

    assert joined.run_id == asked.run_id
    assert fresh.run_id != asked.run_id
    assert len(rig.model.calls) == 2


def test_a_write_to_the_bank_makes_an_undelivered_answer_too_old(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    asked = runs.submit(rig.door, rig.principal, "bank", WHERE)
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.banks SET last_write_at = now()")

    fresh = rig.ask(WHERE)

    assert fresh.run_id != asked.run_id
