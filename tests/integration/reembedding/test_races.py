"""Reading and writing while vectors are replaced: no query meets another model's, and no bank holds two."""

from __future__ import annotations

import json
import threading

import pytest

from hindsight_aws.consolidate.drain import Drained, drain
from hindsight_aws.errors import VectorsReplaced
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.reembedding import adopt, make, points
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.reembedding.conftest import BANK, NEW, OLD, PAGE, Desk
from tests.integration.reembedding.test_reembed import TEXTS

REWORDED = """
UPDATE hindsight.mental_models SET content = 'The hens rest.', embedding = NULL, embedding_model = NULL RETURNING 1
"""


def test_a_recall_that_embedded_its_query_before_is_searched_by_the_new_model(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.ask()

    def replaced() -> None:
        desk.old.before = None
        desk.work()

    desk.old.before = replaced
    found = desk.recall("Bob feeds the hens.")

    assert found[0] == "Bob feeds the hens."
    assert (desk.old.texts[-1], desk.new.texts[-1]) == ("Bob feeds the hens.",) * 2
    assert desk.serves() == NEW


def test_so_is_a_recall_over_banks_of_two_models(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.use(desk.new)
    other = "/v1/default/banks/shed/memories"
    assert desk.call("POST", other, {"items": [{"content": "Bob feeds the cat."}]}).status == 200

    desk.use(desk.old)
    answer = desk.call("POST", "/v1/default/recall", {"query": "Bob feeds", "banks": ["garden", "shed"]})

    assert answer.status == 200, answer.body
    assert {"Bob feeds the hens.", "Bob feeds the cat."} <= {each["text"] for each in answer.json()["results"]}
    assert (desk.old.texts[-1], desk.new.texts[-1]) == ("Bob feeds",) * 2


def test_a_retain_that_embedded_its_facts_before_makes_them_anew(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.ask()

    def replaced() -> None:
        desk.old.before = None
        desk.work()

    desk.old.before = replaced
    accepted = desk.call("POST", f"{BANK}/memories", {"items": [{"content": "Dave paints the shed."}]}).json()
    desk.sql("UPDATE hindsight.operations SET due_at = now() WHERE status = 'pending' RETURNING 1")
    (waiting,) = desk.sql("SELECT operation_id, attempts FROM hindsight.operations WHERE status = 'pending'")
    body = json.dumps({"tenant_id": str(desk.tenant), "operation_id": str(waiting["operation_id"])})
    ingest(desk.services.retain_ports, body, 60.0)

    assert accepted["async"], "the call is not kept waiting"
    assert waiting["attempts"] == 0, "it was no fault of the retain's"
    assert (desk.models(), desk.serves()) == ({NEW}, NEW)
    assert desk.recall("Dave paints the shed.")[0] == "Dave paints the shed."


def test_an_edit_that_comes_amid_the_replacing_is_told_to_come_later(
    desk: Desk, database_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.retain(*TEXTS)
    desk.ask()
    (bank,) = desk.sql("SELECT bank_id FROM hindsight.banks")
    told: list[object] = []

    def write(point: str) -> None:
        if point in {points.AFTER_CLOSE, points.BEFORE_ADOPTION}:
            with pytest.raises(VectorsReplaced) as refused, database_store.transaction(desk.tenant) as tx:
                tx.vectors.lock_shared(bank["bank_id"], OLD)
            told.append(refused.value.until)

    monkeypatch.setattr(make, "reached", write)
    monkeypatch.setattr(adopt, "reached", write)
    desk.work()

    assert len(told) == 2
    assert None not in told, "whoever is told to come later is told when"
    assert desk.serves() == NEW


def test_the_replacing_waits_for_whoever_is_writing_vectors(desk: Desk, database_store: PostgresStore) -> None:
    desk.retain(*TEXTS)
    operation = desk.ask()
    (bank,) = desk.sql("SELECT bank_id FROM hindsight.banks")
    working = threading.Thread(target=desk.work)

    with database_store.transaction(desk.tenant) as tx:
        tx.vectors.lock_shared(bank["bank_id"], OLD)
        working.start()
        working.join(0.3)
        waiting = (working.is_alive(), desk.serves())
    working.join(60)

    assert waiting == (True, OLD)
    assert (desk.operation(operation)["status"], desk.serves()) == ("completed", NEW)


def test_readers_see_the_former_vectors_until_all_are_replaced(
    desk: Desk, database_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.retain(*TEXTS)
    desk.ask()
    seen: list[tuple[str | None, set[str | None]]] = []
    monkeypatch.setattr(adopt, "reached", lambda point: seen.append((desk.serves(), desk.models())))

    desk.work()

    assert seen == [(OLD, {OLD}), (OLD, {OLD}), (NEW, {OLD})]
    assert desk.models() == {NEW}


def test_consolidation_asks_no_model_for_what_it_could_not_write(desk: Desk, database_store: PostgresStore) -> None:
    desk.retain("Alice waters the roses.")
    (scope,) = desk.sql("SELECT bank_id, scope_id FROM hindsight.scopes")
    where = ScopeAddress(desk.tenant, scope["bank_id"], scope["scope_id"])
    asked = len(desk.services.model.calls)

    with database_store.transaction(desk.tenant) as tx:
        tx.vectors.lock_alone(scope["bank_id"])
        drained = drain(desk.services.consolidation_ports, where, lambda: 600.0)

    assert drained is Drained.DEFERRED
    assert len(desk.services.model.calls) == asked
    assert desk.sql("SELECT state, calls FROM hindsight.consolidation_work") == [{"state": "pending", "calls": 0}]


@pytest.mark.parametrize("at", [points.AFTER_CLOSE, points.ALL_MADE], ids=["closed", "replacing"])
def test_a_page_that_changes_when_its_vector_was_made_gets_that_of_what_it_says(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """A page that was written without a vector, meanwhile or long ago, has one afterwards."""
    desk.retain(*TEXTS)
    desk.sql(PAGE)
    operation = desk.ask()
    left = [REWORDED]

    def reword(point: str) -> None:
        if point == at and left:
            desk.sql(left.pop())

    monkeypatch.setattr(make, "reached", reword)
    monkeypatch.setattr(adopt, "reached", reword)
    desk.work()
    desk.sql("UPDATE hindsight.operations SET due_at = now() WHERE status = 'pending' RETURNING 1")
    desk.wake(operation)
    desk.work()

    (page,) = desk.sql("SELECT embedding::text AS vector, embedding_model AS model FROM hindsight.mental_models")
    assert desk.operation(operation)["status"] == "completed"
    assert page == {"vector": desk.stored("Hens\n\nThe hens rest."), "model": NEW}


def test_a_call_that_corrects_meanwhile_is_told_when_to_come_again_and_pays_once(desk: Desk) -> None:
    desk.retain(*TEXTS)
    (fact,) = desk.sql("SELECT id FROM hindsight.memory_units WHERE text LIKE 'Carol%%'")
    desk.sql("UPDATE hindsight.banks SET vectors_closed_until = now() + interval '40 seconds' RETURNING 1")
    paid = len(desk.old.texts)

    for body in ({"text": "Carol sells the fence."}, {"state": "invalidated"}):
        answer = desk.call("PATCH", f"{BANK}/memories/{fact['id']}", body)

        assert answer.status == 503, answer.body
        assert 0 < int(answer.headers["retry-after"]) <= 40
    assert len(desk.old.texts) == paid + 1
