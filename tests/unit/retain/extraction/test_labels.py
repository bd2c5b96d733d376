"""Labels: of what a model says, what the bank's vocabulary knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.retain.extraction.labels import Labels, read_labels
from hindsight_aws.retain.extraction.vocabulary import Vocabulary, vocabulary_of

_VALUES = [{"value": "001", "description": "baking"}, {"value": "002"}]
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["use", "001", "city"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["use", "where", "city", "key", "field", "value"]), inner, max_size=3),
    ),
    max_leaves=8,
)


def _vocabulary(**group: object) -> Vocabulary:
    return vocabulary_of([{"key": "use", **group}], free_form=True)


@pytest.mark.parametrize("said", ["003", "none", "null", "N/A", "", "  ", None, True, ["003"], {"a": "001"}], ids=repr)
def test_a_value_outside_the_closed_list_is_none(said: Any) -> None:
    """[R067]."""
    assert read_labels({"use": said}, _vocabulary(values=_VALUES)) == Labels()


@pytest.mark.parametrize(
    ("kind", "said", "names"),
    [
        ("value", "001", ["use:001"]),
        ("value", ["002", "001"], ["use:002"]),
        ("value", " 001 ", ["use:001"]),
        ("value", "use:001", ["use:001"]),
        ("multi-values", ["002", "x", "001", "001"], ["use:002", "use:001"]),
        ("text", "Rye  bread", ["use:Rye bread"]),
        ("text", ["Rye", "Oats"], ["use:Rye"]),
        ("multi-text", ["Rye", "rye", "Oats", "none"], ["use:Rye", "use:Oats"]),
        ("multi-text", 7, ["use:7"]),
        ("text", "x" * 600, []),
    ],
)
def test_each_kind_of_group_takes_what_it_may(kind: str, said: Any, names: list[str]) -> None:
    """[R067]."""
    vocabulary = _vocabulary(type=kind, values=_VALUES)

    assert read_labels({"USE": said}, vocabulary).names == tuple(names)


def test_both_forms_of_a_reply_say_the_same() -> None:
    vocabulary = _vocabulary(type="multi-values", values=_VALUES)
    in_list: Any = [{"key": "use", "value": "001"}, {"key": "other", "value": "002"}, {"key": "use", "value": "002"}]

    assert read_labels(in_list, vocabulary) == read_labels({"use": ["001", "002"], "other": "002"}, vocabulary)


def test_a_map_names_the_fields_on_the_way() -> None:
    vocabulary = vocabulary_of(
        [
            {
                "key": "place",
                "type": "map",
                "fields": {
                    "city": {"type": "value", "values": ["Graz", {"value": "Split"}]},
                    "house": {"type": "map", "fields": {"room": {}}},
                },
            }
        ],
        free_form=True,
    )
    nested: Any = {"place": {"City": "graz", "house": {"room": "12"}, "country": "AT"}}
    flat: Any = [
        {"key": "place", "field": "city", "value": "Graz"},
        {"key": "place", "field": "city", "value": "Split"},
        {"key": "place", "field": "house.room", "value": "12"},
        {"key": "place", "value": "Graz"},
    ]

    assert read_labels(nested, vocabulary).names == ("place:city:Graz", "place:house:room:12")
    assert read_labels(flat, vocabulary).names == ("place:city:Graz", "place:house:room:12")


def test_a_group_that_is_a_tag_copies_its_labels_to_the_tags() -> None:
    """[R068], the reading side."""
    vocabulary = vocabulary_of(
        [
            {"key": "use", "type": "multi-values", "values": _VALUES, "tag": True},
            {"key": "mood", "type": "text"},
        ],
        free_form=True,
    )

    labels = read_labels({"use": ["001", "002"], "mood": "calm"}, vocabulary)

    assert labels == Labels(("use:001", "use:002", "mood:calm"), ("use:001", "use:002"))


def test_older_words_and_gathered_groups_are_read() -> None:
    raw: list[object] = [
        {"attributes": [{"key": "a", "free_values": True}, {"key": "b", "multi_value": True, "values": ["x"]}]},
        {"key": "c", "free_values": True, "multi_value": True},
        {"key": "A", "values": ["later"]},
        {"key": "  "},
        "no group",
    ]

    vocabulary = vocabulary_of(raw, free_form=False)

    assert [(group.key, group.holds.kind) for group in vocabulary.groups] == [
        ("a", "text"),
        ("b", "multi-values"),
        ("c", "multi-text"),
    ]
    assert vocabulary.free_form is False


@given(_JSON)
def test_whatever_a_model_says_gives_labels_or_none(said: Any) -> None:
    vocabulary = vocabulary_of(
        [
            {"key": "use", "values": _VALUES, "tag": True},
            {"key": "where", "type": "map", "fields": {"city": {"type": "multi-text"}}},
        ],
        free_form=True,
    )

    labels = read_labels(said, vocabulary)

    assert set(labels.tags) <= set(labels.names)
    assert all(name.startswith(("use:00", "where:city:")) for name in labels.names)
    json.dumps(vocabulary.as_document())
