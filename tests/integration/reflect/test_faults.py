"""What a run does where models throttle or fail, the database goes away, or its execution dies."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.errors import (
    DatabaseUnavailable,
    HindsightError,
    ModelReplyMalformed,
    ModelThrottled,
    ModelUnavailable,
    WorkDeferred,
)
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.ports.store import DueBy
from hindsight_aws.reflect import runs
from hindsight_aws.store.postgres import PostgresStore, PostgresTransaction
from tests.integration.reflect.asked import ROME, WHERE, ledger
from tests.support.database import Database
from tests.support.reflect import Said, done, make_rig


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


@dataclass
class LeavingStore:
    """A store that can go away."""

    store: PostgresStore
    is_away: bool = False

    def transaction(self, tenant_id: TenantId) -> AbstractContextManager[PostgresTransaction]:
        if self.is_away:
            raise DatabaseUnavailable("gone")
        return self.store.transaction(tenant_id)

    def snapshot(self, tenant_id: TenantId) -> AbstractContextManager[PostgresTransaction]:
        return self.store.snapshot(tenant_id)


def test_a_model_error_is_told_even_when_the_ledger_cannot_be_written(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    leaving = LeavingStore(store)

    def fails_as_the_database_goes(_call: ModelCall) -> Said:
        leaving.is_away = True
        raise ModelReplyMalformed("unreadable")

    rig = make_rig(database, leaving, tenant, fails_as_the_database_goes)  # type: ignore[arg-type]  # transactions are all that a run asks for
    rig.remember(ROME)
    raised: list[tuple[object, str]] = []

    def step(event: JsonObject) -> JsonObject:
        try:
            return rig.step(event)
        except HindsightError as error:
            raised.append((event["step"], type(error).__name__))
            leaving.is_away = False
            raise

    rig.workflows.step = step

    rig.ask(WHERE)

    assert raised[0] == ("call_model", "ModelReplyMalformed")


def test_throttling_is_waited_out_and_each_call_is_counted(  # [X079]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, *[ModelThrottled("slow down")] * 3, done("In Rome.", "f1"))
    rig.remember(ROME)

    answer = rig.answer(WHERE)

    assert answer["text"] == "In Rome."
    assert [status for _, status in ledger(database, tenant)] == ["unavailable"] * 3 + ["ok"]


def test_a_throttled_search_is_waited_out(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    rig.embedder.failures += [ModelThrottled("slow down")] * 3

    assert rig.ask(WHERE).status == "completed"


def test_a_provider_that_never_answers_fails_the_run(  # [X080]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, ModelUnavailable("down"))
    rig.remember(ROME)

    run = rig.ask(WHERE)

    assert (run.status, run.error) == ("failed", "ModelUnavailable")
    assert len(rig.model.calls) == 6


def test_a_search_that_fails_fails_the_run(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """Case [X019]."""
    rig = make_rig(database, store, tenant, done("In Rome."))
    rig.remember(ROME)
    rig.embedder.failures += [ModelReplyMalformed("not finite")] * 9

    run = rig.ask(WHERE)

    assert (run.status, run.error) == ("failed", "ModelReplyMalformed")
    assert rig.model.calls == []


def test_a_run_whose_execution_died_is_ended_by_the_sweep(  # [X087]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.workflows.runs = False
    run = runs.submit(rig.door, rig.principal, "bank", WHERE)
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.reflect_runs SET deadline_at = now() - interval '1 second'")

    due = [
        work
        for work in store.due_work(10, DueBy(observations=True, auto_consolidation=True))
        if work.kind == "reflect" and work.tenant_id == tenant
    ]
    with store.transaction(tenant) as tx:
        ended = [runs.end_if_dead(tx, rig.bank_id, run.run_id) for _ in range(2)]

    assert [(work.tenant_id, work.id) for work in due] == [(tenant, UUID(str(run.run_id)))]
    assert ended == [True, False]
    assert (rig.find(run.run_id).status, rig.find(run.run_id).error) == ("failed", "ReflectTimeout")


def test_a_run_out_of_time_closes_before_the_workflow_is_cut_off(  # [X025]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"), hindsight_api_reflect_wall_timeout=10.0)
    rig.remember(ROME)

    run = rig.ask(WHERE)

    assert (run.status, run.error) == ("failed", "ReflectTimeout")
    assert rig.model.calls == []


def test_a_run_that_cannot_be_started_is_taken_back(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    rig.workflows.refusals.append(WorkDeferred("away"))

    with pytest.raises(WorkDeferred):
        runs.submit(rig.door, rig.principal, "bank", WHERE)
    run = rig.ask(WHERE)

    assert run.status == "completed"
