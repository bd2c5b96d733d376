"""Passages: where a chunk stands, and what of its neighbours is shown with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.retain.extraction.passages import MOST_AROUND, passages_of
from hindsight_aws.retain.extraction.request import Extractor, extraction_key
from hindsight_aws.retain.intake.accepted import Part

_PART = Part(0, "", datetime(2031, 2, 4, tzinfo=UTC), is_dated=True)


def test_a_chunk_is_told_its_place_and_its_neighbours() -> None:
    passages = passages_of([(_PART, "One."), (_PART, "Two."), (_PART, "Three.")])

    assert [(each.position, each.total, each.before, each.after) for each in passages] == [
        (0, 3, "", "Two."),
        (1, 3, "One.", "Three."),
        (2, 3, "Two.", ""),
    ]


def test_chunks_that_are_appended_go_on_counting() -> None:
    first, second = passages_of([(_PART, "Eight."), (_PART, "Nine.")], first=7, before="Seven.")

    assert (first.position, first.total, first.before) == (7, 9, "Seven.")
    assert (second.position, second.before) == (8, "Eight.")


def test_of_a_neighbour_only_the_near_end_is_shown_in_whole_words() -> None:
    words = " ".join(f"word{number}" for number in range(200))

    first, second = passages_of([(_PART, words), (_PART, words)])

    assert words.startswith(first.after)
    assert words.endswith(second.before)
    for shown in (first.after, second.before):
        assert MOST_AROUND // 2 < len(shown) <= MOST_AROUND
        assert set(shown.split()) <= set(words.split())


def test_a_neighbour_without_spaces_is_cut_between_characters() -> None:
    text = "東" * 1_000 + "👨\u200d👩\u200d👧" * 100

    first, second = passages_of([(_PART, text), (_PART, text)])

    assert len(first.after) == MOST_AROUND
    assert second.before.startswith("👨")


@given(st.text("ab \n東e\u0301\u200d", max_size=900))
def test_any_neighbour_is_shown_from_its_near_end(text: str) -> None:
    first, second = passages_of([(_PART, text), (_PART, text)])

    assert text.strip().startswith(first.after)
    assert text.strip().endswith(second.before)
    assert len(first.after) <= MOST_AROUND
    assert bool(first.after) == bool(second.before) == bool(text.strip())


def test_no_word_of_another_scope_is_shown() -> None:
    private = replace(_PART, position=1, tags=("user:ada",))
    own_scopes = replace(_PART, position=2, observation_scopes="shared")

    passages = passages_of([(_PART, "One."), (private, "Two."), (own_scopes, "Three.")])

    assert [(each.before, each.after) for each in passages] == [("", "")] * 3


def test_items_that_only_share_a_document_are_strangers() -> None:
    other = replace(_PART, position=1)

    passages = passages_of([(_PART, "One."), (_PART, "Two."), (other, "Three.")], is_one_text=False)

    assert [(each.position, each.total, each.before, each.after) for each in passages] == [
        (0, 2, "", "Two."),
        (1, 2, "One.", ""),
        (0, 1, "", ""),
    ]


def test_what_stands_around_a_chunk_does_not_change_its_key() -> None:
    extractor = Extractor("m")
    submitted = replace(_PART, is_dated=False)
    (alone,) = passages_of([(submitted, "One.")])
    (_, moved) = passages_of(
        [
            (submitted, "Zero."),
            (replace(submitted, happened=datetime(2032, 1, 1, tzinfo=UTC), metadata={"a": "b"}), "One."),
        ]
    )

    assert moved.before == "Zero."
    assert extraction_key(extractor, moved) == extraction_key(extractor, alone)


def test_what_decides_the_answer_changes_the_key() -> None:
    extractor = Extractor("m")
    (passage,) = passages_of([(_PART, "One.")])
    others = [
        (extractor, replace(passage, text="Two.")),
        (extractor, replace(passage, context="c")),
        (extractor, replace(passage, happened=datetime(2032, 1, 1, tzinfo=UTC))),
        (extractor, replace(passage, happened=None)),
        (replace(extractor, mode="verbose"), passage),
        (replace(extractor, mission="m"), passage),
        (replace(extractor, language="German"), passage),
        (replace(extractor, asks_causes=False), passage),
    ]

    keys = {extraction_key(*each) for each in [(extractor, passage), *others]}

    assert len(keys) == 1 + len(others)
