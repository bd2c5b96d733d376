"""A reflect step killed at any boundary: the run gives one answer, and a stored reply is never paid for again."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

import psycopg
import pytest

from hindsight_aws.jobs.reflect import run_step
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.ports.store import Backlog, DueBy, DueWork, Transaction
from hindsight_aws.ports.tenants import KeyRecord
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.reflect.steps import call_model, finish, run_tool
from hindsight_aws.reflect.tools.searches import RecallSearches
from hindsight_aws.store import postgres
from hindsight_aws.store.postgres import PostgresStore
from infra.local.workflow import StatesError
from tests.conftest import Dose
from tests.support.database import Database
from tests.support.reflect import Rig, Said, done, make_rig, uses
from tests.support.units import Unit

REQUEST = ReflectRequest("Where does Bea live?", shows_facts=True)


Strike: TypeAlias = Callable[..., "tuple[Rig, Process]"]
"""Runs one reflect whose process is killed at a point (None: never), in a bank of its own."""


class Killed(BaseException):
    """The process is gone: nothing that follows in it happens."""


class Process:
    """A function's process that may be killed at the n-th point it reaches, counted over the whole run."""

    def __init__(self, database: Database, kill_at: int | None) -> None:
        self.reached: list[str] = []
        self.killed_at: str | None = None
        self._database = database
        self._kill_at = kill_at
        self._store = self._connect()
        self._is_dead = False

    def note(self, point: str) -> None:
        """A named point is reached."""
        self.reached.append(point)
        if len(self.reached) - 1 == self._kill_at:
            self._is_dead, self.killed_at = True, point
            raise Killed

    def transaction(self, tenant_id: TenantId) -> AbstractContextManager[Transaction]:
        if self._is_dead:
            raise Killed
        return self._store.transaction(tenant_id)

    def snapshot(self, tenant_id: TenantId) -> AbstractContextManager[Transaction]:
        if self._is_dead:
            raise Killed
        return self._store.snapshot(tenant_id)

    def resolve_key(self, key_hash: bytes) -> KeyRecord | None:
        raise NotImplementedError

    def due_work(self, at_most: int, due_by: DueBy) -> list[DueWork]:
        raise NotImplementedError

    def backlog(self, due_by: DueBy) -> Backlog:
        raise NotImplementedError

    def next_due(self, due_by: DueBy) -> datetime | None:
        raise NotImplementedError

    def run(self, rig: Rig, event: JsonObject) -> JsonObject:
        """One event, in a new process when the last was killed.  Raises StatesError, as Lambda tells of a dead one."""
        if self._is_dead:
            self._store.close()
            self._store, self._is_dead = self._connect(), False
        searches = RecallSearches(self, rig.embedder, None, rig.settings, SystemClock())
        try:
            return run_step(replace(rig.ports, store=self, searches=searches), event, lambda *_bank: None)
        except Killed:
            raise StatesError("Runtime.ExitError", "signal: SIGKILL") from None

    def close(self) -> None:
        self._store.close()

    def _connect(self) -> PostgresStore:
        return PostgresStore(lambda: self._database.write_url, connect_for_s=30.0)


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


@pytest.fixture
def strike(database: Database, store: PostgresStore, tenant: TenantId, monkeypatch: pytest.MonkeyPatch) -> Strike:
    """Runs one reflect whose process is killed at a point; gives the rig and the process."""

    def run(kill_at: int | None, again: int = 0) -> tuple[Rig, Process]:
        rig = make_rig(
            database,
            store,
            tenant,
            _searches_then_answers,
            bank=f"bank-{kill_at}-{again}",
        )
        rig.remember(Unit("Bea moved to Rome."))
        process = Process(database, kill_at)
        rig.workflows.step = lambda event: process.run(rig, event)
        with monkeypatch.context() as patched:
            for module in (finish, call_model, run_tool):
                patched.setattr(module, "reached", process.note)
            patched.setattr(postgres, "reached", lambda point: _of_steps(process, point))
            run_of(rig)
        process.close()
        return rig, process

    return run


def _searches_then_answers(call: ModelCall) -> Said:
    """What is said follows from the conversation, so that a reply that is lost is said again."""
    return uses(("recall", {"reason": "r", "query": "Bea"})) if len(call.history) == 1 else done("In Rome.", "f1")


def _of_steps(process: Process, point: str) -> None:
    if threading.current_thread() is not threading.main_thread():
        process.note(point)


def run_of(rig: Rig) -> None:
    runs.submit(rig.door, rig.principal, rig.bank, REQUEST)


@pytest.mark.timeout(1_800)
def test_a_kill_at_any_point_leaves_one_answer_and_no_stored_reply_is_paid_again(
    strike: Strike, tenant: TenantId, database: Database, dose: Dose
) -> None:
    _, whole = strike(None)
    points = range(len(whole.reached)) if dose == "deep" else _one_of_each(whole)
    times = 20 if dose == "deep" else 1

    for again, kill_at in itertools.product(range(times), points):
        rig, process = strike(kill_at, again)

        assert process.killed_at == whole.reached[kill_at]
        assert _answer(database, tenant, rig) == ("completed", "In Rome."), (kill_at, process.killed_at)
        assert len(rig.model.calls) == (3 if _loses_a_reply(whole, kill_at) else 2), (kill_at, process.killed_at)


def _one_of_each(whole: Process) -> list[int]:
    """The last place of every kind of boundary: what was done before it, and its name."""
    reached = ["", *whole.reached]
    kinds = {(before, name): place for place, (before, name) in enumerate(itertools.pairwise(reached))}
    assert {name for _, name in kinds} >= {
        "reflect.before_model", "reflect.after_model", "reflect.after_tool", "reflect.before_finish",
    }  # fmt: skip
    return sorted(kinds.values())


def _loses_a_reply(whole: Process, place: int) -> bool:
    """Whether the point lies between a model's reply and the commit that keeps it: the one window that costs a call."""
    after_reply = "reflect.after_model"
    return whole.reached[place] == after_reply or (place > 0 and whole.reached[place - 1] == after_reply)


def _answer(database: Database, tenant: TenantId, rig: Rig) -> tuple[str, str | None]:
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute(
            "SELECT status, answer ->> 'text' FROM hindsight.reflect_runs WHERE tenant_id = %s AND bank_id = %s",
            (tenant, rig.bank_id),
        ).fetchall()
    assert len(rows) == 1
    return rows[0][0], rows[0][1]
