"""What the model sees of the tools' answers: each thing under one alias, whole once, nothing said twice."""

from __future__ import annotations

from uuid import uuid4

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation.presentation import Presentation

A, B, C = (str(uuid4()) for _ in range(3))


def page(page_id: str, **more: JsonValue) -> JsonObject:
    return {"id": page_id, "name": page_id.title(), **more}


def found(name: str, *records: JsonObject) -> JsonObject:
    return {"query": "q", name: [*records]}


def test_a_thing_shown_before_is_only_named_again() -> None:
    """Case [X034]."""
    seen = Presentation()
    seen.show(found("memories", {"id": A, "text": "a"}))

    shown = seen.show(found("memories", {"id": A, "text": "a"}, {"id": B, "text": "b"}))

    assert shown == {"query": "q", "memories": [{"id": "f2", "text": "b"}], "already_shown": ["f1"]}


def test_a_page_begun_before_is_shown_when_it_is_read_whole_and_never_the_other_way() -> None:
    """Case [X034]."""
    seen = Presentation()
    seen.show(found("mental_models", page("pets", snippet="Dogs", content_chars=900)))

    whole = seen.show({"mental_models": [page("pets", content="Dogs and cats.")], "not_read": ["pets", "gone"]})
    again = seen.show(found("mental_models", page("pets", snippet="Dogs", content_chars=900)))

    assert whole["mental_models"] == [{"id": "p1", "name": "Pets", "content": "Dogs and cats."}]
    assert whole["not_read"] == ["p1", "gone"]
    assert again == {"query": "q", "mental_models": [], "already_shown": ["p1"]}
    assert [(one.text, one.is_whole) for one in seen.evidence.values()] == [("Dogs and cats.", True)]


def test_a_thing_that_changed_meanwhile_is_shown_anew_under_its_alias() -> None:
    seen = Presentation()
    seen.show(found("observations", {"id": A, "text": "Bea lives in Rome."}))

    shown = seen.show(found("observations", {"id": A, "text": "Bea lives in Oslo."}))

    assert shown["observations"] == [{"id": "o1", "text": "Bea lives in Oslo."}]
    assert [one.text for one in seen.evidence.values()] == ["Bea lives in Oslo."]


def test_a_memory_without_text_is_shown_and_can_be_cited() -> None:
    """Case [X035]."""
    seen = Presentation()

    shown = seen.show(found("observations", {"id": A}, {"id": B, "text": ""}))

    assert [one["id"] for one in shown["observations"] if isinstance(one, dict)] == ["o1", "o2"]  # type: ignore[union-attr]  # a list it is
    assert [one.text for one in seen.evidence.values()] == ["", ""]


def test_a_type_that_all_facts_share_is_said_once() -> None:
    same = Presentation().show(found("memories", {"id": A, "text": "a", "type": "world"}))
    mixed = Presentation().show(
        found("memories", {"id": A, "text": "a", "type": "world"}, {"id": B, "text": "b", "type": "experience"})
    )

    assert same == {"query": "q", "memories": [{"id": "f1", "text": "a"}], "type": "world"}
    assert mixed["memories"] == [
        {"id": "f1", "text": "a", "type": "world"},
        {"id": "f2", "text": "b", "type": "experience"},
    ]


def test_a_chunk_has_an_alias_and_lies_beneath_its_facts() -> None:
    seen = Presentation()
    result: JsonObject = {
        "memories": [{"id": A, "text": "a"}], "chunks": [{"id": "bank_doc_0", "text": "all around", "of": [A]}],
    }  # fmt: skip

    first, second = seen.show(result), seen.show(result)

    assert first["chunks"] == [{"text": "all around", "chunk": "c1", "memories": ["f1"]}]
    assert second == {"memories": [], "chunks": [], "already_shown": ["f1", "c1"]}
    assert seen.evidence["f1"].sources == ("all around",)


def test_the_facts_under_an_observation_are_named_by_it() -> None:
    shown = Presentation().show(
        {"observations": [{"id": A, "text": "a", "rests_on": [B]}], "source_facts": [{"id": B, "text": "b"}]}
    )

    assert shown == {
        "observations": [{"id": "o1", "text": "a", "rests_on": ["f1"]}], "source_facts": [{"id": "f1", "text": "b"}],
    }  # fmt: skip


def test_a_memory_that_only_expand_met_can_be_cited() -> None:
    """Case [X030]."""
    seen = Presentation()
    opened: JsonObject = {
        "memory_id": A, "memory": {"id": A, "text": "a", "type": "world"}, "chunk": {"id": "bank_doc_0", "text": "c"},
    }  # fmt: skip

    shown = seen.show({"results": [opened, {"memory_id": "f9", "error": "no"}]})

    assert shown["results"] == [
        {
            "memory_id": "f1",
            "memory": {"id": "f1", "text": "a", "type": "world"},
            "chunk": {"text": "c", "chunk": "c1", "memories": ["f1"]},
        },
        {"memory_id": "f9", "error": "no"},
    ]
    assert [(one.alias, one.id, one.sources) for one in seen.evidence.values()] == [("f1", A, ("c",))]


def test_an_observation_that_is_opened_shows_its_facts_and_what_was_quoted() -> None:
    seen = Presentation()
    seen.show(found("memories", {"id": B, "text": "b"}))
    opened: JsonObject = {
        "memory_id": A,
        "memory": {"id": A, "text": "a", "type": "observation"},
        "evidence": [{"id": B, "text": "b", "quote": "q"}, {"id": C, "text": "c"}],
        "withheld": 2,
    }

    (shown,) = (one for one in seen.show({"results": [opened]})["results"])  # type: ignore[union-attr]  # a list it is

    assert shown == {
        "memory_id": "o1",
        "memory": {"id": "o1", "text": "a", "type": "observation"},
        "evidence": [{"id": "f1", "quote": "q"}, {"id": "f2", "text": "c"}],
        "withheld": 2,
    }


def test_a_document_is_shown_once() -> None:
    seen = Presentation()
    opened: list[JsonValue] = [
        {"memory_id": one, "memory": {"id": one, "text": one}, "document": {"id": "letter", "full_text": "long"}}
        for one in (A, B)
    ]

    shown = seen.show({"results": opened})["results"]

    assert isinstance(shown, list)
    assert [one["document"] for one in shown if isinstance(one, dict)] == [
        {"id": "letter", "full_text": "long"},
        {"id": "letter", "already_shown": True},
    ]
    assert [one.sources for one in seen.evidence.values()] == [("long",), ("long",)]


def test_a_page_with_the_id_of_a_memory_or_a_chunk_is_something_else() -> None:
    seen = Presentation()
    seen.show({"memories": [{"id": A, "text": "a"}], "chunks": [{"id": "bank_doc_0", "text": "c", "of": [A]}]})

    seen.show(found("mental_models", page(A, content="P"), page("bank_doc_0", content="Q")))

    assert seen.ids == {"f1": A, "c1": "bank_doc_0", "p1": A, "p2": "bank_doc_0"}
    assert [one.text for one in seen.evidence.values()] == ["a", "P", "Q"]
