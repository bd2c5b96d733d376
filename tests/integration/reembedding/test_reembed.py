"""A bank goes to another model: the former vectors serve until all are made, and no two models are ever mixed."""

from __future__ import annotations

import pytest

from tests.integration.reembedding.conftest import BANK, NEW, OLD, PAGE, REVISION, Desk

TEXTS = ("Alice waters the roses.", "Bob feeds the hens.", "Carol mends the fence.")


def test_recall_finds_the_same_before_during_and_after(desk: Desk) -> None:
    desk.retain(*TEXTS)
    before = [desk.recall(text) for text in TEXTS]

    operation = desk.ask()
    during = [desk.recall(text) for text in TEXTS]
    asked_before = (desk.serves(), list(desk.new.texts))
    desk.work()
    ended = desk.operation(operation)

    assert asked_before == (OLD, [])
    assert [desk.recall(text) for text in TEXTS] == during == before
    assert (desk.serves(), desk.models(), desk.beside()) == (NEW, {NEW}, 0)
    assert ended["status"] == "completed", ended
    assert {name: ended["result_metadata"][name] for name in ("model", "former_model", "vectors")} == {
        "model": NEW, "former_model": OLD, "vectors": 3,
    }  # fmt: skip


def test_everything_with_a_vector_goes_to_the_new_model(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.sql(REVISION)
    desk.sql(PAGE)
    (gone,) = desk.sql("SELECT id FROM hindsight.memory_units WHERE text LIKE 'Bob%%'")
    assert desk.call("PATCH", f"{BANK}/memories/{gone['id']}", {"state": "invalidated"}).status == 200

    desk.ask()
    desk.work()

    assert desk.sql(_EVERY_MODEL) == [{"made_by": NEW, "vectors": 5}]
    (page,) = desk.sql("SELECT embedding::text AS vector FROM hindsight.mental_models")
    assert page["vector"] == desk.stored("Hens\n\nThe hens lay.")
    assert desk.call("PATCH", f"{BANK}/memories/{gone['id']}", {"state": "valid"}).status == 200
    assert desk.models() == {NEW}


def test_the_new_vectors_are_those_that_a_retain_by_the_new_model_would_have_made(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.ask()
    desk.work()
    made = desk.sql(_VECTORS)

    desk.sql("DELETE FROM hindsight.memory_units RETURNING 1")
    desk.sql("DELETE FROM hindsight.documents RETURNING 1")
    desk.retain(*TEXTS)

    assert made == desk.sql(_VECTORS)


def test_what_is_written_meanwhile_is_caught_up_with(desk: Desk) -> None:
    desk.retain(*TEXTS)
    operation = desk.ask()
    (edited,) = desk.sql("SELECT id FROM hindsight.memory_units WHERE text LIKE 'Carol%%'")

    def write_once() -> None:
        desk.new.before = None
        desk.retain("Dave paints the shed.")
        desk.call("PATCH", f"{BANK}/memories/{edited['id']}", {"text": "Carol sells the fence."})

    desk.new.before = write_once
    desk.work()

    assert desk.operation(operation)["status"] == "completed"
    assert (desk.models(), desk.beside()) == ({NEW}, 0)
    assert desk.recall("Carol sells the fence.")[0] == "Carol sells the fence."
    (found,) = desk.sql("SELECT embedding::text AS vector FROM hindsight.memory_units WHERE id = %s", edited["id"])
    (text,) = [text for text in desk.new.texts if text.startswith("Carol sells") and "(happened" in text]
    assert found["vector"] == desk.stored(text)


def test_a_large_bank_is_looked_through_in_parts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindsight_aws.reembedding.make._LOOKED_THROUGH", 1)
    desk.retain(*TEXTS)
    operation = desk.ask()

    desk.work()

    assert desk.operation(operation)["result_metadata"]["vectors"] == 3
    assert (len(desk.new.texts), desk.models()) == (3, {NEW})


def test_a_bank_that_is_of_the_model_already_costs_no_call(desk: Desk) -> None:
    desk.retain(*TEXTS)

    operation = desk.ask(OLD)
    asked = len(desk.old.texts)
    desk.work()

    assert desk.operation(operation)["result_metadata"]["vectors"] == 0
    assert (len(desk.old.texts), desk.serves()) == (asked, OLD)


def test_progress_and_costs_are_shown(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.configure(hindsight_reembed_batch=2)
    operation = desk.ask()
    seen: list[object] = []
    desk.new.before = lambda: seen.append(desk.operation(operation)["progress"])

    desk.work()

    assert seen[0] is None
    assert isinstance(seen[1], dict)
    assert {name: seen[1][name] for name in ("stage", "processed", "total")} == {
        "stage": "embedding", "processed": 2, "total": 3,
    }  # fmt: skip
    paid = desk.sql("SELECT sum(calls) AS calls FROM hindsight.usage_ledger WHERE operation_id = %s", operation)
    assert paid == [{"calls": 3}]


_VECTORS = "SELECT text, embedding::text AS vector FROM hindsight.memory_units ORDER BY text"
_EVERY_MODEL = """
SELECT made_by, count(*) AS vectors FROM (
    SELECT embedding_model AS made_by FROM hindsight.memory_units
    UNION ALL SELECT embedding_model FROM hindsight.invalidated_memory_units
    UNION ALL SELECT embedding_model FROM hindsight.observation_revisions WHERE embedding IS NOT NULL
    UNION ALL SELECT embedding_model FROM hindsight.mental_models WHERE embedding IS NOT NULL) AS every GROUP BY made_by
"""
