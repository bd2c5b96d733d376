"""A process dies in a model call: the call is counted though nobody knows what became of it, and such calls are few."""

from __future__ import annotations

import psycopg
import pytest

from hindsight_aws.errors import ModelThrottled
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.reflect.request import Budget, ReflectRequest
from hindsight_aws.reflect.steps.call_model import MOST_LOST_CALLS
from hindsight_aws.store.postgres import PostgresStore
from infra.local.workflow import StatesError
from tests.support.database import Database
from tests.support.reflect import Reply, Rig, Said, done, make_rig, uses
from tests.support.units import Unit

WHERE = ReflectRequest("Where does Bea live?", budget=Budget.HIGH)
AGAIN = uses(("recall", {"query": "Bea"}))


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


class Died(Exception):
    """The process is gone in the middle of a call."""


def dies(_call: ModelCall) -> Said:
    """The model answers and nobody hears it."""
    raise Died


def rig_that_dies(database: Database, store: PostgresStore, tenant: TenantId, *replies: Reply) -> Rig:
    """A rig whose step functions may die, as the workflow is told of it."""
    rig = make_rig(database, store, tenant, *replies)
    rig.remember(Unit("Bea moved to Rome."))
    step = rig.workflows.step

    def until_death(event: JsonObject) -> JsonObject:
        try:
            return step(event)
        except Died as death:
            raise StatesError("Runtime.ExitError", "{}") from death

    rig.workflows.step = until_death
    return rig


def ledger(database: Database, tenant: TenantId) -> list[str]:
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute(
            "SELECT status FROM hindsight.usage_ledger WHERE tenant_id = %s AND task LIKE 'reflect%%' ORDER BY at",
            (tenant,),
        )
        return [row[0] for row in rows]


def test_a_call_whose_process_died_is_in_the_ledger_and_made_again(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = rig_that_dies(database, store, tenant, dies, dies, done("In Rome.", "f1"))

    run = rig.ask(WHERE)

    assert (run.status, run.lost_calls, run.open_calls) == ("completed", 2, frozenset())
    assert ledger(database, tenant) == ["abandoned", "abandoned", "ok"]


def test_a_run_whose_process_dies_in_every_other_call_ends_after_a_few(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Each step gets through at its second try: no state of the workflow would ever give up."""
    replies: list[Reply] = [dies, AGAIN]
    rig = rig_that_dies(database, store, tenant, *(replies * 20))

    run = rig.ask(WHERE)

    assert (run.status, run.error) == ("failed", "WorkCrashed")
    assert len(rig.model.calls) == 2 * MOST_LOST_CALLS - 1
    assert ledger(database, tenant).count("abandoned") == MOST_LOST_CALLS


def test_a_call_that_failed_in_words_is_not_lost(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = rig_that_dies(database, store, tenant, *([ModelThrottled("slow down")] * 5), done("In Rome.", "f1"))

    run = rig.ask(WHERE)

    assert (run.status, run.lost_calls, run.open_calls) == ("completed", 0, frozenset())
