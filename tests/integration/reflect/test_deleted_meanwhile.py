"""Memory is deleted while a run goes on: nobody is given its words, nothing of them stays, and who asks again sees."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from hindsight_aws.errors import HindsightError, ModelRefused
from hindsight_aws.model.ids import RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.reflect.steps import finish
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.reflect.test_http import Served
from tests.support.admin import changing
from tests.support.contention import until_blocked
from tests.support.database import Database
from tests.support.pages import put_page
from tests.support.reflect import Reply, Rig, Said, done, make_rig, uses
from tests.support.units import Unit

WHERE = ReflectRequest("Where does Bea live?", shows_facts=True)
ROME, THAI = "Bea moved to Rome.", "Bea speaks Thai."


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def forget(rig: Rig, *texts: str, store: PostgresStore | None = None) -> None:
    """Facts go as they go by hand, and the bank's cached answers with them."""
    with changing(rig.database.admin_url) as admin:
        admin.execute("DELETE FROM memory_units WHERE tenant_id = %s AND text = ANY (%s)", (rig.tenant, [*texts]))
    with (store or rig.store).transaction(rig.tenant) as tx:
        tx.reflect.forget_answers(rig.bank_id)
        tx.memories.touch_bank(rig.bank_id, None)


def meanwhile(act: Callable[[], object], then: Said | HindsightError) -> Callable[[ModelCall], Said]:
    """A reply before which something happens."""

    def reply(_call: ModelCall) -> Said:
        act()
        if isinstance(then, HindsightError):
            raise then
        return then

    return reply


def rig_that_forgets(
    database: Database, store: PostgresStore, tenant: TenantId, *then: Said | HindsightError, text: str = ROME
) -> Rig:
    """Before its first reply the fact goes."""
    rig = make_rig(database, store, tenant)
    rig.remember(Unit(ROME))
    first: Reply = meanwhile(lambda: forget(rig, text), then[0])
    rig.model.replies = [first, *then[1:]]
    return rig


def words_of(rig: Rig, word: str) -> list[str]:
    """What of the runs still holds a word."""
    like = (rig.tenant, f"%{word}%")
    with changing(rig.database.admin_url) as admin:
        kept = admin.execute(
            "SELECT 'run' FROM reflect_runs r WHERE r.tenant_id = %s AND r::text LIKE %s", like
        ).fetchall()
        kept += admin.execute(
            "SELECT step FROM reflect_steps s WHERE s.tenant_id = %s AND s::text LIKE %s", like
        ).fetchall()
    return [str(name) for (name,) in kept]


def test_an_equal_request_after_a_deletion_begins_anew_and_does_not_join(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant)
    rig.remember(Unit(ROME))
    later: list[Any] = []

    def asks_again() -> None:
        forget(rig, ROME)
        later.append(runs.submit(rig.door, rig.principal, rig.bank, WHERE))

    rig.model.replies = [meanwhile(asks_again, done("In Rome.", "f1")), done("In Rome.", "f1")]

    first = rig.ask(WHERE)

    (second,) = later
    assert second.run_id != first.run_id
    assert (first.status, first.answer) == ("completed", None)
    assert "Rome" not in str(rig.find(second.run_id).answer)
    assert words_of(rig, "Rome") == []


def test_who_waits_is_told_to_ask_again_and_is_then_told_the_new_state(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    served = Served(database, store, tenant)
    served.rig.remember(Unit(ROME))
    served.rig.model.replies = [meanwhile(lambda: forget(served.rig, ROME), done("In Rome.", "f1"))]

    first, second = served.ask(), served.ask()

    assert (first.status, first.headers["retry-after"], b"Rome" in first.body) == (503, "1", False)
    assert (second.status, second.json()["citation_status"]) == (200, "none")


def test_a_deletion_that_meets_the_end_of_a_run_waits_for_it_and_forgets_its_answer(
    database: Database, store: PostgresStore, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(Unit(ROME))
    other = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    deletion = threading.Thread(target=lambda: forget(rig, ROME, store=other))

    def delete(_point: str) -> None:
        deletion.start()
        until_blocked(database)

    monkeypatch.setattr(finish, "reached", delete)
    run = runs.submit(rig.door, rig.principal, rig.bank, WHERE)
    deletion.join()
    other.close()

    assert (rig.find(run.run_id).status, rig.find(run.run_id).answer) == ("completed", None)
    assert words_of(rig, "Rome") == []


def test_an_answer_stands_when_what_was_deleted_was_not_read(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = rig_that_forgets(database, store, tenant, done("In Rome.", "f1"), text=THAI)

    run = rig.ask(WHERE)

    assert run.answer is not None
    assert run.answer["text"] == "In Rome."


def test_an_answer_does_not_stand_when_a_document_was_opened(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """What of its text an answer rests on, nobody can tell."""
    opens = uses(("expand", {"memory_ids": ["f1"], "depth": "document"}))
    rig = rig_that_forgets(database, store, tenant, opens, done("In Rome.", "f1"), text=THAI)

    run = rig.ask(WHERE)

    assert (run.status, run.answer) == ("completed", None)


def test_a_fact_that_reads_otherwise_now_is_as_good_as_deleted(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant)
    rig.remember(Unit(ROME))

    def edit() -> None:
        with changing(database.admin_url) as admin:
            admin.execute("UPDATE memory_units SET text = 'Bea moved.' WHERE tenant_id = %s", (tenant,))
        forget(rig)

    rig.model.replies = [meanwhile(edit, done("In Rome.", "f1"))]

    assert rig.ask(WHERE).answer is None
    assert words_of(rig, "Rome") == []


@pytest.mark.parametrize(("is_gone", "is_given"), [(False, True), (True, False)])
def test_an_answer_from_a_page_stands_while_the_page_does(
    database: Database, store: PostgresStore, tenant: TenantId, is_gone: bool, is_given: bool
) -> None:
    rig = make_rig(database, store, tenant)
    put_page(rig, "bea", "Bea lives in Rome.")

    def withhold() -> None:
        if is_gone:
            with changing(database.admin_url) as admin:
                admin.execute("DELETE FROM mental_models WHERE tenant_id = %s", (tenant,))
        forget(rig)

    rig.model.replies = [meanwhile(withhold, done("In Rome.", "p1"))]

    assert (rig.ask(WHERE).answer is not None) is is_given


@pytest.mark.parametrize("end", ["fails", "cancelled", "dies"])
def test_a_run_that_ends_without_an_answer_keeps_nothing_of_what_was_deleted(
    database: Database, store: PostgresStore, tenant: TenantId, end: str
) -> None:
    rig = rig_that_forgets(database, store, tenant, ModelRefused("no"))
    step = rig.workflows.step

    def ends_otherwise(event: JsonObject) -> JsonObject:
        if event["step"] != "fail" or end == "fails":
            return step(event)
        raise ModelRefused("the step that records a failure fails too")

    rig.workflows.step = ends_otherwise
    run = runs.submit(rig.door, rig.principal, rig.bank, WHERE)
    with changing(database.admin_url) as admin:
        admin.execute("UPDATE reflect_runs SET deadline_at = now() - interval '1 s' WHERE tenant_id = %s", (tenant,))
    before = words_of(rig, "Rome")
    with store.transaction(tenant) as tx:
        if end == "cancelled":
            tx.reflect.cancel(rig.bank_id, run.run_id)
        elif end == "dies":
            runs.end_if_dead(tx, rig.bank_id, run.run_id)

    assert bool(before) is (end != "fails")
    assert rig.find(run.run_id).status in ("failed", "cancelled")
    assert words_of(rig, "Rome") == []


def test_a_run_that_made_room_for_another_keeps_no_decision(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(Unit(ROME))
    step = rig.workflows.step

    def never_ends(event: JsonObject) -> JsonObject:
        if event["step"] in ("finish", "fail"):
            raise ModelRefused("dies")
        return step(event)

    rig.workflows.step = never_ends
    dead = runs.submit(rig.door, rig.principal, rig.bank, WHERE)
    with changing(database.admin_url) as admin:
        admin.execute("UPDATE reflect_runs SET deadline_at = now() - interval '1 s' WHERE tenant_id = %s", (tenant,))
    rig.workflows.runs = False

    runs.submit(rig.door, rig.principal, rig.bank, WHERE)
    with store.transaction(tenant) as tx:
        tx.reflect.forget_answers(rig.bank_id)

    assert rig.find(dead.run_id).status == "failed"
    assert words_of(rig, "In Rome") == []


def test_what_a_step_found_is_not_kept_once_its_run_has_ended(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant)
    rig.remember(Unit(ROME))

    def cancel() -> None:
        with store.transaction(tenant) as tx:
            (run_id,) = rig.workflows.started
            tx.reflect.cancel(rig.bank_id, RunId(run_id))
            tx.reflect.forget_answers(rig.bank_id)

    rig.model.replies = [meanwhile(cancel, done("In Rome.", "f1"))]

    assert rig.ask(WHERE).status == "cancelled"
    assert words_of(rig, "Rome") == []
