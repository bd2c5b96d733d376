"""A document read again from its own text."""

from __future__ import annotations

import pytest

from hindsight_aws.errors import ModelRefused, NotFound
from tests.integration.documents.conftest import Shelf, at, item, turns
from tests.integration.documents.test_versions import one_fact_per_turn
from tests.support.models import one_fact_per_line


def _run(shelf: Shelf, document: str = "d") -> None:
    begun = shelf.reprocess(document)
    shelf.deliver_all()
    assert shelf.operation(begun.operation_id)["status"] == "completed"


@pytest.mark.parametrize(
    "given", [None, "unset", at("2026-03-10T15:30:00+00:00")], ids=["none-given", "unset", "given"]
)
def test_every_chunk_is_read_again_with_the_dates_it_had(shelf: Shelf, given: object) -> None:
    """Case [R105]."""
    shelf.retain(item("Ada rows.", timestamp=given, context="c", tags=("t",), metadata={"k": "v"}))
    before = shelf.facts("d")

    _run(shelf)

    after = shelf.facts("d")
    assert len(shelf.model.calls) == 2
    assert [fact["mentioned_at"] for fact in after] == [fact["mentioned_at"] for fact in before]
    assert [(fact["context"], fact["tags"], fact["metadata"]) for fact in after] == [("c", ["t"], {"k": "v"})]
    assert {fact["id"] for fact in after}.isdisjoint(fact["id"] for fact in before)
    assert [row["kind"] for row in shelf.rows("SELECT kind FROM document_revisions ORDER BY created_at")] == [
        "retain",
        "reprocess",
    ]


def test_one_that_is_tried_again_takes_what_is_there_by_then(shelf: Shelf) -> None:
    shelf.retain(item("Former."))
    shelf.model.script = lambda _call: ModelRefused("no")
    shelf.reprocess("d")
    shelf.deliver_all()
    shelf.model.script = one_fact_per_line
    shelf.retain(item("Newer."))
    (failed,) = shelf.rows("SELECT operation_id FROM operations WHERE status = 'failed'")

    shelf.change("UPDATE operations SET status = 'pending', attempts = 0, due_at = now() WHERE status = 'failed'")
    shelf.deliver(shelf.tenant, failed["operation_id"])

    (ended,) = shelf.rows("SELECT status FROM operations WHERE operation_id = %s", failed["operation_id"])
    assert ended["status"] == "completed"
    assert shelf.texts() == ["Newer."]


def test_items_keep_their_own_values(shelf: Shelf) -> None:
    shelf.retain(item("One.", context="c1", tags=("a",)), item("Two.\nThree.", context="c2", timestamp="unset"))
    shelf.retain(item("Four.", context="c3", update_mode="append"))
    before = [(f["text"], f["context"], f["tags"], f["mentioned_at"]) for f in shelf.facts("d")]

    _run(shelf)

    assert [(f["text"], f["context"], f["tags"], f["mentioned_at"]) for f in shelf.facts("d")] == before
    assert shelf.document("d")["original_text"] == "One.\nTwo.\nThree.\nFour."


def test_a_conversation_of_several_appends_is_taken_apart_again(shelf: Shelf) -> None:
    shelf.model.script = one_fact_per_turn
    for number, said in enumerate((("a", "b"), ("c",), ("d", "e"))):
        shelf.retain(item(turns(*said), context=f"c{number}", update_mode="append"))
    text = shelf.document("d")["original_text"]

    _run(shelf)

    assert [(f["text"], f["context"]) for f in shelf.facts("d")] == [
        ("a", "c0"), ("b", "c0"), ("c", "c1"), ("d", "c2"), ("e", "c2"),
    ]  # fmt: skip
    assert shelf.document("d")["original_text"] == text


def test_it_reads_what_is_stored_when_its_turn_comes_and_holds_no_text(shelf: Shelf) -> None:
    shelf.retain(item("Old text."))
    shelf.submit(item("New text."))

    begun = shelf.reprocess("d")
    payload = shelf.operation(begun.operation_id)["payload"]
    shelf.deliver_all()

    assert "text" not in str(payload).lower().replace("context", "")
    assert shelf.texts() == ["New text."]
    assert shelf.model.texts() == ["Old text.", "New text.", "New text."]


def test_without_a_stored_text_it_is_not_found(shelf: Shelf) -> None:
    """Case [R101]."""
    shelf.configure_bank(store_document_text=False)
    shelf.retain(item("Ada rows."))

    with pytest.raises(NotFound, match="no stored text"):
        shelf.reprocess("d")
    with pytest.raises(NotFound):
        shelf.reprocess("nothing")


def test_a_text_that_went_meanwhile_ends_it_as_failed(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows."))
    begun = shelf.reprocess("d")
    shelf.change("UPDATE documents SET original_text = NULL")

    shelf.deliver_all()

    operation = shelf.operation(begun.operation_id)
    assert operation["status"] == "failed"
    assert "no stored text" in operation["error_message"]
    assert shelf.texts() == ["Ada rows."]
