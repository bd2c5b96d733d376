"""Labels of a document that is already there: changed without a new look at its text, and only where they differ."""

from __future__ import annotations

import pytest

from hindsight_aws.documents import DocumentPatch, patch_document
from hindsight_aws.errors import AccessDenied, InvalidField, NotFound
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagLeaf, TagsMatch
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from tests.integration.documents.conftest import Shelf, item
from tests.support.models import one_fact_per_line


def test_other_tags_relabel_facts_and_move_them_between_scopes(shelf: Shelf) -> None:
    """Case [R091]."""
    shelf.retain(item("Ada rows.\nAda sings.", tags=("user:a",)))
    shelf.retain(item("Ada swims.", "other", tags=("user:a",)))
    rows, sings = (fact["id"] for fact in shelf.facts("d"))
    (swims,) = (fact["id"] for fact in shelf.facts("other"))
    shelf.observe("Ada is active.", [rows, swims])

    shelf.retain(item("Ada rows.\nAda sings.", tags=("user:b",)))

    assert [fact["id"] for fact in shelf.facts("d")] == [rows, sings]
    assert {tuple(fact["tags"]) for fact in shelf.facts("d")} == {("user:b",)}
    assert shelf.observations() == []
    assert shelf.work() == {
        (rows, ("user:b",)): "pending",
        (sings, ("user:b",)): "pending",
        (swims, ("user:a",)): "pending",
    }
    assert shelf.rows("SELECT DISTINCT text FROM observation_revisions") == [{"text": None}]
    assert shelf.rows("SELECT DISTINCT tag FROM unit_tags WHERE unit_id = %s", rows) == [{"tag": "user:b"}]
    assert len(shelf.model.calls) == 2


def test_only_facts_whose_labels_differ_are_touched(shelf: Shelf) -> None:
    """Case [R091]."""
    shelf.retain(item("One.", tags=("a",)), item("Two.", tags=("b",)))
    before = shelf.facts("d")

    shelf.retain(item("One.", tags=("a",)), item("Two.", tags=("c",)))

    after = shelf.facts("d")
    assert after[0] == before[0]
    assert after[1]["id"] == before[1]["id"]
    assert after[1]["tags"] == ["c"]
    assert after[1]["updated_at"] > before[1]["updated_at"]


def test_a_scope_that_stays_keeps_its_observations(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a", "b"), observation_scopes="per_tag"))
    (fact,) = (fact["id"] for fact in shelf.facts("d"))
    shelf.observe("In a.", [fact], ["a"])
    shelf.observe("In b.", [fact], ["b"])

    shelf.patch("d", tags=("a", "c"))

    assert shelf.observations() == ["In a."]
    assert shelf.work() == {(fact, ("a",)): "done", (fact, ("c",)): "pending"}
    kept = shelf.rows("SELECT text FROM observation_revisions WHERE text IS NOT NULL")
    assert kept == [{"text": "In a."}]


def test_tags_that_a_fact_has_from_its_labels_stay(shelf: Shelf) -> None:
    """Case [R091]."""
    shelf.retain(item("Ada rows.", tags=("user:a",)))
    (fact,) = (fact["id"] for fact in shelf.facts("d"))
    shelf.change("UPDATE memory_units SET tags = tags || '{mood:glad}'")

    shelf.patch("d", tags=("user:b",))

    assert shelf.facts("d")[0]["tags"] == ["user:b", "mood:glad"]
    assert shelf.facts("d")[0]["id"] == fact


def test_a_label_that_was_also_the_items_tag_stays_when_the_item_loses_it(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("mood:glad", "x")))
    shelf.change(
        "WITH e AS (INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key, kind) "
        "SELECT tenant_id, bank_id, gen_random_uuid(), 'mood:glad', 'mood:glad', 'label' FROM banks RETURNING *) "
        "INSERT INTO unit_entities (tenant_id, bank_id, unit_id, entity_id) "
        "SELECT u.tenant_id, u.bank_id, u.id, e.entity_id FROM memory_units u, e"
    )

    shelf.patch("d", tags=("x",))

    assert sorted(shelf.facts("d")[0]["tags"]) == ["mood:glad", "x"]


def test_equal_labels_are_no_change(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a", "b")))
    before, facts = shelf.document("d"), shelf.facts("d")

    shelf.patch("d", tags=("b", "a"))

    assert shelf.document("d") == before
    assert shelf.facts("d") == facts


@pytest.mark.parametrize(
    ("tags", "scopes"),
    [
        pytest.param(("user:b", "team:x"), [["user:b"], ["team:x", "user:b"]], id="C018-one-renamed"),
        pytest.param(("user:b", "team:y"), [["user:a"], ["team:x", "user:a"]], id="C018-two-changed"),
        pytest.param(("team:x",), [["user:a"], ["team:x", "user:a"]], id="C018-one-taken-off"),
    ],
)
def test_a_tag_that_was_renamed_alone_is_renamed_in_lists_of_scopes(
    shelf: Shelf, tags: tuple[str, ...], scopes: list[list[str]]
) -> None:
    shelf.retain(item("Ada rows.", tags=("user:a", "team:x"), observation_scopes=(("user:a",), ("team:x", "user:a"))))
    (fact,) = (fact["id"] for fact in shelf.facts("d"))

    shelf.patch("d", tags=tags)

    assert shelf.facts("d")[0]["observation_scopes"] == scopes
    assert set(shelf.work()) == {(fact, tuple(sorted(scope))) for scope in scopes}


def test_other_scopes_move_the_work_and_nothing_else(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a", "b")))
    (fact,) = (fact["id"] for fact in shelf.facts("d"))

    shelf.patch("d", observation_scopes="shared")

    assert set(shelf.work()) == {(fact, ())}
    assert shelf.facts("d")[0]["tags"] == ["a", "b"]
    assert shelf.wakeups.scopes
    assert len(shelf.model.calls) == 1


def test_a_tag_goes_from_those_items_that_had_it(shelf: Shelf) -> None:
    shelf.retain(item("One.", tags=("a", "x")), item("Two.", tags=("b", "x")))

    shelf.patch("d", tags=("a", "b"))

    assert [fact["tags"] for fact in shelf.facts("d")] == [["a"], ["b"]]


def test_the_next_retain_goes_by_the_new_labels(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a",)))
    shelf.patch("d", tags=("b",))
    before = shelf.facts("d")

    shelf.retain(item("Ada rows.", tags=("b",)))

    assert shelf.facts("d") == before


def test_invalidated_facts_get_the_labels_too(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a",)))
    shelf.archive("Gone.")

    shelf.patch("d", tags=("b",))

    assert shelf.rows("SELECT tags FROM invalidated_memory_units") == [{"tags": ["b"]}]


def test_the_history_says_so(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a",)))

    shelf.patch("d", tags=("b",))

    kinds = shelf.rows("SELECT kind FROM document_revisions ORDER BY created_at")
    assert [row["kind"] for row in kinds] == ["retain", "retag"]


def test_a_key_with_tags_of_its_own_cannot_label_a_document_out_of_its_sight(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("user:a",)), item("Shared.", "both", tags=("user:a",)))
    shelf.retain(item("Shared.", "both", tags=("user:a",)), item("Of b.", "both", tags=("user:b",)))
    own = Principal(shelf.tenant, "a", forced_tags=TagLeaf(frozenset({"user:a"}), TagsMatch.ANY_STRICT))
    before = shelf.rows("SELECT id, tags FROM memory_units ORDER BY id")

    for document, error in (("d", AccessDenied), ("both", NotFound), ("nothing", NotFound)):
        with pytest.raises(error):
            patch_document(shelf.changes, own, "bank", document, DocumentPatch(tags=("user:b",)))

    assert shelf.rows("SELECT id, tags FROM memory_units ORDER BY id") == before


def test_tags_that_make_too_many_scopes_are_refused(shelf: Shelf) -> None:
    shelf.retain(item("Ada rows.", tags=("a",), observation_scopes="all_combinations"))

    with pytest.raises(InvalidField, match="tags"):
        shelf.patch("d", tags=tuple(f"t{n}" for n in range(30)))


def test_a_patch_while_a_retain_of_the_document_runs_is_not_lost(shelf: Shelf) -> None:
    shelf.retain(item("Turn 1.", tags=("a",)))
    twin = shelf.open_twin()
    assert isinstance(twin, Shelf)

    def patched_meanwhile(call: ModelCall) -> JsonObject:
        shelf.model.script = one_fact_per_line
        twin.patch("d", tags=("b",))
        return one_fact_per_line(call)

    shelf.model.script = patched_meanwhile
    shelf.retain(item("Turn 2.", tags=("c",), update_mode="append"))
    shelf.change("UPDATE operations SET due_at = now()")
    shelf.deliver_all()

    assert shelf.document("d")["tags"] == ["b", "c"]
    assert [fact["tags"] for fact in shelf.facts("d")] == [["b"], ["c"]]
