"""What a second retain of the same document does."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor

from hindsight_aws.retain import RetainItem, RetainResult
from tests.integration.retain.conftest import Workshop


def _of_document(workshop: Workshop, name: str = "d") -> list[str]:
    query = (
        "SELECT u.text FROM memory_units u JOIN documents d USING (document_id) WHERE d.external_id = %s "
        "ORDER BY u.chunk_index, u.ordinal"
    )
    return [row["text"] for row in workshop.rows(query, name)]


def test_the_same_document_again_changes_nothing_and_costs_nothing(workshop: Workshop) -> None:
    item = RetainItem("One.\nTwo.", document_id="d", tags=("a",), metadata={"k": "v"}, observation_scopes=(("a",),))
    workshop.retain(item)
    before = workshop.rows("SELECT id, updated_at FROM memory_units ORDER BY id")

    result = workshop.retain(item)

    assert workshop.rows("SELECT id, updated_at FROM memory_units ORDER BY id") == before
    assert len(workshop.model.calls) == 1
    assert result.usage is not None
    assert result.usage.total_tokens == 0


def test_a_new_text_replaces_the_old_one_whole(workshop: Workshop) -> None:
    workshop.retain(
        RetainItem("Old one.\nOld two.", document_id="d", tags=("a",)), RetainItem("Kept.", document_id="e")
    )
    made = workshop.rows("SELECT created_at FROM documents WHERE external_id = 'd'")

    workshop.retain(RetainItem("New.", document_id="d"))

    assert _of_document(workshop) == ["New."]
    assert _of_document(workshop, "e") == ["Kept."]
    assert workshop.rows("SELECT created_at FROM documents WHERE external_id = 'd'") == made
    (document,) = workshop.rows("SELECT original_text, tags, version FROM documents WHERE external_id = 'd'")
    assert document == {"original_text": "New.", "tags": [], "version": 2}
    assert workshop.rows("SELECT sum(units) AS n FROM bank_counters") == [{"n": 2}]
    orphans = (
        "SELECT count(*) AS n FROM unit_terms t WHERE NOT EXISTS (SELECT FROM memory_units u WHERE u.id = t.unit_id)"
    )
    assert workshop.rows(orphans) == [{"n": 0}]
    assert len(workshop.rows("SELECT * FROM consolidation_work")) == 2


def test_changed_labels_ask_no_model(workshop: Workshop) -> None:
    from datetime import UTC, datetime

    dated = RetainItem("One.", document_id="d", timestamp=datetime(2026, 1, 1, tzinfo=UTC))
    workshop.retain(dated)

    workshop.retain(RetainItem("One.", document_id="d", timestamp=dated.timestamp, tags=("new",)))

    assert len(workshop.model.calls) == 1
    assert workshop.rows("SELECT tags FROM memory_units") == [{"tags": ["new"]}]


def test_one_document_in_two_banks_is_two(workshop: Workshop) -> None:
    workshop.retain(RetainItem("In x.", document_id="d"), bank="x")
    workshop.retain(RetainItem("In y.", document_id="d"), bank="y")

    workshop.retain(RetainItem("New in x.", document_id="d"), bank="x")

    assert sorted(workshop.texts()) == ["In y.", "New in x."]


def test_items_of_one_document_are_folded_in_order_each_with_its_own_labels(workshop: Workshop) -> None:
    workshop.retain(
        RetainItem("First.", document_id="d", context="c1", tags=("a",)),
        RetainItem("Other.", document_id="e"),
        RetainItem("Second.", document_id="d", context="c2"),
    )

    assert _of_document(workshop) == ["First.", "Second."]
    (document,) = workshop.rows("SELECT original_text FROM documents WHERE external_id = 'd'")
    assert document["original_text"] == "First.\nSecond."
    contexts = workshop.rows("SELECT context, tags FROM memory_units WHERE context IS NOT NULL ORDER BY chunk_index")
    assert contexts == [{"context": "c1", "tags": ["a"]}, {"context": "c2", "tags": []}]


def test_append_adds_and_leaves_what_was_there_alone(workshop: Workshop) -> None:
    workshop.retain(RetainItem("Turn 1.", document_id="d", context="then"))
    before = workshop.rows("SELECT id, mentioned_at, context FROM memory_units")

    workshop.retain(RetainItem("Turn 2.", document_id="d", update_mode="append"))

    assert _of_document(workshop) == ["Turn 1.", "Turn 2."]
    assert before[0] in workshop.rows("SELECT id, mentioned_at, context FROM memory_units")
    (document,) = workshop.rows("SELECT original_text, version FROM documents")
    assert document == {"original_text": "Turn 1.\nTurn 2.", "version": 2}
    assert len(workshop.model.calls) == 2


def test_appended_conversations_stay_one_conversation(workshop: Workshop) -> None:
    for turn in ("one", "two"):
        content = json.dumps([{"role": "user", "content": turn}])
        workshop.retain(RetainItem(content, document_id="d", update_mode="append"))

    (document,) = workshop.rows("SELECT original_text FROM documents")
    assert [turn["content"] for turn in json.loads(document["original_text"])] == ["one", "two"]


def test_appends_sent_at_once_are_all_there(workshop: Workshop) -> None:
    workshop.retain(RetainItem("Turn 0.", document_id="d"))
    workers = [workshop.open_twin() for _ in range(3)]
    sent: list[Future[RetainResult]] = []

    with ThreadPoolExecutor(3) as pool:
        for number, worker in enumerate(workers, 1):
            item = RetainItem(f"Turn {number}.", document_id="d", update_mode="append")
            sent.append(pool.submit(worker.retain, item))
    assert all(not each.result().is_async for each in sent)

    assert sorted(_of_document(workshop)) == ["Turn 0.", "Turn 1.", "Turn 2.", "Turn 3."]
    (document,) = workshop.rows("SELECT original_text FROM documents")
    assert sorted(document["original_text"].split("\n")) == ["Turn 0.", "Turn 1.", "Turn 2.", "Turn 3."]


def test_operations_on_one_document_run_in_the_order_they_were_submitted(workshop: Workshop) -> None:
    for version in ("v1", "v2", "v3"):
        workshop.submit(RetainItem(version, document_id="d"))
    workshop.wakeups.operations.reverse()

    workshop.deliver_all()

    assert _of_document(workshop) == ["v3"]
    statuses = workshop.rows("SELECT DISTINCT status FROM operations")
    assert statuses == [{"status": "completed"}]
