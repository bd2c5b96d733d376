"""Runs that refresh a page: the same loop, other endings, and one commit with the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import psycopg
import pytest

from hindsight_aws.errors import ModelRefused
from hindsight_aws.jobs.reflect import run_step
from hindsight_aws.model.ids import RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.page_keeper import DataBlock, FoundPiece, PageBasis
from hindsight_aws.ports.reflect import NewRun, Run
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.request import ReflectJob, ReflectRequest, job_to_json
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.reflect import Reply, Rig, Said, make_rig
from tests.support.units import Unit

READY = Said((("answer_ready", {"answer_found": True}),))


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


@dataclass(slots=True)
class PagesInMemory:
    """Pages that note what they are told; the first reply of `refuses` is refused.

    `meanwhile` happens in a commit, `failed_meanwhile` where a failure is told.
    """

    endings: tuple[str, ...] = ("refresh_ops",)
    searches: bool = True
    refuses: list[str] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    committed: list[tuple[dict[str, JsonObject], list[FoundPiece]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    failed_meanwhile: Callable[[], None] = lambda: None

    def basis(self, tx: Transaction, run: Run) -> PageBasis:
        blocks = {task: (DataBlock("document", {"sections": []}),) for task in self.endings}
        return PageBasis(run.request, self.endings, self.searches, blocks=blocks, kept={"page": "p"})

    def check(self, kept: JsonObject, task: str, reply: JsonObject, said: Mapping[str, JsonObject]) -> str | None:
        assert kept == {"page": "p"}
        return self.refuses.pop() if self.refuses else None

    def blocks(self, kept: JsonObject, task: str, said: Mapping[str, JsonObject]) -> tuple[DataBlock, ...]:
        return (DataBlock("document", {"sections": [], "after": list(said)}),) if said else ()

    def compose(self, run: Run, kept: JsonObject, said: Mapping[str, JsonObject]) -> JsonObject:
        return {"vector": None}

    def commit(
        self, tx: Transaction, run: Run, kept: JsonObject, said: Mapping[str, JsonObject], found: list[FoundPiece],
        composed: JsonObject,
    ) -> JsonObject:  # fmt: skip
        assert composed == {"vector": None}
        self.committed.append((dict(said), found))
        self.meanwhile()
        return {"outcome": "content_written"}

    def failed(self, tx: Transaction, run: Run, error: str, message: str) -> None:
        self.failures.append(error)
        self.failed_meanwhile()


@dataclass(slots=True)
class PageRig:
    """A rig whose runs refresh a page."""

    rig: Rig
    pages: PagesInMemory

    def run(self) -> Run:
        """A refresh, from its row to its end."""
        run_id = self.begin()
        self.rig.workflows.start_reflect(self.rig.tenant, self.rig.bank_id, UUID(str(run_id)))
        return self.rig.find(run_id)

    def begin(self) -> RunId:
        """The row of a refresh."""
        run_id = RunId(uuid4())
        job = job_to_json(ReflectJob(self.rig.principal, self.rig.bank, ReflectRequest("What of Bea?")))
        job["operation_id"] = str(uuid4())
        new = NewRun(self.rig.bank_id, run_id, str(run_id), "dev", job, 300.0, "refresh")
        with self.rig.store.transaction(self.rig.tenant) as tx:
            assert tx.reflect.create(new)
        return run_id


def page_rig(
    database: Database, store: PostgresStore, tenant: TenantId, pages: PagesInMemory, *replies: Reply
) -> PageRig:
    rig = make_rig(database, store, tenant, *replies)
    rig.remember(Unit("Bea moved to Rome."))
    ports = rig.ports
    with_pages = replace(ports, pages=pages)
    rig.workflows.step = lambda event: run_step(with_pages, event, lambda *_bank: None)
    return PageRig(rig, pages)


def end_runs(database: Database, tenant: TenantId) -> None:
    """Somebody else ends every run of the tenant."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(
            "UPDATE hindsight.reflect_runs SET status = 'cancelled', ended_at = now() WHERE tenant_id = %s", (tenant,)
        )


def ops(task: str, *words: str) -> Said:
    return Said(((task, {"operations": [*words]}),))


def test_a_page_is_written_once_from_its_endings_and_what_was_found(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    pages = PagesInMemory(("retract", "refresh_ops"))
    refresh = page_rig(database, store, tenant, pages, READY, ops("retract", "a"), ops("refresh_ops", "b"))

    run = refresh.run()

    tasks = [call.task for call in refresh.rig.model.calls]
    assert (run.status, run.answer) == ("completed", {"outcome": "content_written"})
    assert tasks == ["reflect_turn", "retract", "refresh_ops"]
    ((said, found),) = pages.committed
    assert said == {"retract": {"operations": ["a"]}, "refresh_ops": {"operations": ["b"]}}
    assert [(piece.alias, piece.kind, piece.text) for piece in found] == [("f1", "memory", "Bea moved to Rome.")]
    assert '"after": ["retract"]' in "".join(refresh.rig.model.calls[2].blocks)


def test_a_turn_of_a_page_ends_with_answer_ready_and_offers_no_answer(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    refresh = page_rig(database, store, tenant, PagesInMemory(), READY, ops("refresh_ops"))

    refresh.run()

    names = [tool.name for tool in refresh.rig.model.calls[0].tools]
    assert "answer_ready" in names
    assert "done" not in names


def test_a_refused_ending_is_asked_once_more_with_the_refusal(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    pages = PagesInMemory(refuses=["section s9 is unknown"])
    refresh = page_rig(database, store, tenant, pages, READY, ops("refresh_ops", "x"), ops("refresh_ops", "y"))

    run = refresh.run()

    assert run.status == "completed"
    assert "section s9 is unknown" in "".join(refresh.rig.model.calls[2].blocks)
    assert pages.committed[0][0] == {"refresh_ops": {"operations": ["y"]}}


def test_an_ending_that_is_refused_twice_fails_the_refresh_and_writes_nothing(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    pages = PagesInMemory(refuses=["still unknown", "unknown"])
    refresh = page_rig(database, store, tenant, pages, READY, ops("refresh_ops", "x"))

    run = refresh.run()

    assert (run.status, run.error, run.error_message) == ("failed", "ModelReplyMalformed", "still unknown")
    assert (pages.committed, pages.failures) == ([], ["ModelReplyMalformed"])


def test_a_page_with_nothing_in_scope_costs_no_model_call(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    pages = PagesInMemory(searches=False)
    refresh = page_rig(database, store, tenant, pages, READY)

    run = refresh.run()

    assert run.status == "completed"
    assert refresh.rig.model.calls == []
    assert pages.committed == [({}, [])]


def test_an_end_that_lost_the_race_takes_back_what_it_wrote(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    pages = PagesInMemory(meanwhile=lambda: end_runs(database, tenant))
    refresh = page_rig(database, store, tenant, pages, READY, ops("refresh_ops"))

    run = refresh.run()

    assert len(pages.committed) == 1
    assert refresh.rig.workflows.visited[-3:] == ["Finish", "RecordFailure", "Failed"]
    assert (run.status, run.answer) == ("cancelled", None)


def test_a_failure_that_lost_the_race_is_told_to_no_page(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """The page's operation is locked before the run, as where a refresh is cancelled: neither waits for the other."""
    pages = PagesInMemory(failed_meanwhile=lambda: end_runs(database, tenant))
    refresh = page_rig(database, store, tenant, pages, ModelRefused("no"))

    run = refresh.run()

    assert pages.failures == ["ModelRefused"]
    assert (run.status, run.error) == ("cancelled", None)
