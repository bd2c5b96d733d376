"""Deleting a document takes out all that came of it, for good."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from hindsight_aws.documents import delete_document
from hindsight_aws.errors import HindsightError, ModelRefused, NotFound, WorkRaced
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagLeaf, TagsMatch
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from tests.integration.documents.conftest import Shelf, item
from tests.support.models import Script, block, one_fact_per_line


def test_a_shared_observation_goes_and_the_other_document_is_consolidated_again(shelf: Shelf) -> None:
    """Case [R127]."""
    shelf.retain(item("Uma plays the cello.", "d1"))
    shelf.retain(item("Uma plays in a quartet.", "d2"))
    (one,), (two,) = ([fact["id"] for fact in shelf.facts(name)] for name in ("d1", "d2"))
    shelf.observe("Uma plays the cello in a quartet.", [one, two])
    shelf.wakeups.scopes.clear()

    deleted = shelf.delete("d1")

    assert deleted.facts == 1
    assert shelf.observations() == []
    assert shelf.work() == {(two, ()): "pending"}
    assert len(shelf.wakeups.scopes) == 1
    assert shelf.texts() == ["Uma plays in a quartet."]


def test_nothing_of_it_is_left_in_any_table(shelf: Shelf) -> None:
    mark = "Xylophonist"
    shelf.retain(item(f"Uma is a {mark}.", tags=("a", "b"), observation_scopes="per_tag", context=f"{mark} talk"))
    (fact,) = (fact["id"] for fact in shelf.facts("d"))
    shelf.observe(f"In a: {mark}.", [fact], ["a"])
    shelf.observe(f"In b: {mark}.", [fact], ["b"])
    shelf.archive(f"Was a {mark}.")

    shelf.delete("d")

    assert shelf.texts_anywhere(mark) == {}
    assert shelf.rows("SELECT coalesce(sum(units), 0) AS n FROM bank_counters WHERE fact_type = 'world'") == [{"n": 0}]
    assert shelf.rows("SELECT count(*) AS n FROM unit_terms") == [{"n": 0}]


def test_failed_work_on_it_loses_its_text(shelf: Shelf) -> None:
    shelf.retain(item("Base."))
    shelf.model.script = lambda _: ModelRefused("no")
    with pytest.raises(ModelRefused):
        shelf.retain(item("Zanzibar plans.\nMore."))
    assert "operations" in shelf.texts_anywhere("Zanzibar")

    shelf.delete("d")

    assert shelf.texts_anywhere("Zanzibar") == {}


def test_what_failed_of_a_document_nobody_named_loses_its_text_with_it(shelf: Shelf) -> None:
    shelf.model.script = _refusing("Zanzibar")
    with pytest.raises(ModelRefused):
        shelf.retain(item("Fine.", None), item("Zanzibar plans.", None))
    (document,) = shelf.rows("SELECT external_id FROM documents")

    shelf.delete(document["external_id"])

    assert shelf.texts_anywhere("Zanzibar") == {}


def test_work_that_waits_to_write_it_is_cancelled(shelf: Shelf) -> None:
    shelf.retain(item("Base."))
    shelf.submit(item("Late and secret."))

    shelf.delete("d")
    shelf.deliver_all()

    assert shelf.rows("SELECT external_id FROM documents") == []
    assert shelf.texts_anywhere("Late and secret") == {}
    states = shelf.rows("SELECT kind, status FROM operations WHERE kind <> 'retain' OR status <> 'completed'")
    assert {(row["kind"], row["status"]) for row in states} == {("retain", "cancelled"), ("batch_retain", "cancelled")}


def test_work_on_other_documents_beside_it_goes_on(shelf: Shelf) -> None:
    shelf.retain(item("Base."))
    shelf.submit(item("Late."), item("Of another.", "e"))

    shelf.delete("d")
    shelf.deliver_all()

    assert shelf.texts() == ["Of another."]
    statuses = shelf.rows("SELECT DISTINCT status FROM operations")
    assert statuses == [{"status": "completed"}]


def test_a_worker_that_is_at_it_cannot_bring_it_back(shelf: Shelf) -> None:
    shelf.retain(item("Base."))
    shelf.submit(item("While you were out."))
    twin = shelf.open_twin()
    assert isinstance(twin, Shelf)
    shelf.model.script = _after(lambda: twin.delete("d"))

    shelf.deliver_all()
    shelf.change(
        "UPDATE operations SET due_at = now(), lease_until = '-infinity' WHERE status IN ('pending', 'processing')"
    )
    for row in shelf.rows("SELECT operation_id FROM operations WHERE kind = 'retain'"):
        shelf.deliver(shelf.tenant, row["operation_id"])

    assert shelf.rows("SELECT external_id FROM documents") == []
    assert shelf.texts() == []


def test_a_retain_after_it_makes_a_new_document(shelf: Shelf) -> None:
    shelf.retain(item("Old."))
    shelf.delete("d")

    shelf.retain(item("New."))

    assert shelf.texts() == ["New."]
    assert shelf.document("d")["version"] == 1


def test_a_second_delete_finds_nothing(shelf: Shelf) -> None:
    shelf.retain(item("Once."))
    shelf.delete("d")

    with pytest.raises(NotFound):
        shelf.delete("d")


def test_entities_lose_the_mentions(shelf: Shelf) -> None:
    shelf.model.script = lambda call: {
        "facts": [{"what": "Uma rows.", "fact_type": "world", "entities": [{"text": "Uma"}]}]
    }
    shelf.retain(item("Uma rows.", "d1"))
    shelf.retain(item("Uma rows again.", "d2"))

    shelf.delete("d1")

    assert shelf.rows("SELECT mention_count FROM entities WHERE canonical_name = 'Uma'") == [{"mention_count": 1}]


def test_two_linked_documents_deleted_at_once_do_not_block_each_other(shelf: Shelf) -> None:
    """Case [R128]."""
    names = [f"d{number}" for number in range(8)]
    for name in names:
        shelf.retain(item("Uma rows on the lake.\nUma sings by the lake.", name))
    facts = [fact["id"] for name in names for fact in shelf.facts(name)]
    for start in range(0, len(facts), 4):
        shelf.observe(f"Observation {start}.", facts[start : start + 6])
    workers = [shelf.open_twin() for _ in names]

    with ThreadPoolExecutor(len(names)) as pool:
        gone = [pool.submit(_delete, worker, name) for worker, name in zip(workers, reversed(names), strict=True)]

    assert [each.result() for each in gone] == [2] * len(names)
    assert shelf.texts() == []
    assert shelf.observations() == []


def test_a_key_with_tags_of_its_own_deletes_only_what_is_wholly_its_own(shelf: Shelf) -> None:
    shelf.retain(item("Of a.", tags=("user:a",)), item("Of b.", tags=("user:b",)))
    shelf.retain(item("Only a.", "own", tags=("user:a",)))
    own = Principal(shelf.tenant, "a", forced_tags=TagLeaf(frozenset({"user:a"}), TagsMatch.ANY_STRICT))

    with pytest.raises(NotFound):
        delete_document(shelf.changes, own, "bank", "d")
    delete_document(shelf.changes, own, "bank", "own")

    assert shelf.texts() == ["Of a.", "Of b."]


def _delete(worker: object, name: str) -> int:
    assert isinstance(worker, Shelf)
    try:
        return worker.delete(name).facts
    except WorkRaced as raced:
        raise AssertionError("deletes of two documents got in each other's way") from raced


def _refusing(mark: str) -> Script:
    return lambda call: ModelRefused("no") if mark in str(block(call, "chunk")["text"]) else one_fact_per_line(call)


def _after(act: Callable[[], object]) -> Script:
    """A script that acts before its first answer."""
    left = [act]

    def script(call: ModelCall) -> JsonObject | HindsightError:
        while left:
            left.pop()()
        return one_fact_per_line(call)

    return script
