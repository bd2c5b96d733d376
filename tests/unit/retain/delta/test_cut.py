"""What a new version of a document shares with the stored one, and how little of it is cut anew."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.retain.delta import FormerChunk, FormerChunks, Piece, cut_afresh, cut_again, fingerprint
from hindsight_aws.retain.intake.accepted import Part

SIZE: Final = 300
_WORDS: Final = "river stone lamp harbour violin winter letter garden copper signal orchard marble".split()


def part(content: str, **fields: object) -> Part:
    """A part of one document, dated by its submission alone."""
    values: dict[str, object] = {"happened": datetime(2031, 5, 1, tzinfo=UTC), "is_dated": False, **fields}
    return Part(0, content, **values)  # type: ignore[arg-type]  # a test names any field


def stored(*parts: Part, size: int = SIZE, keeps_text: bool = True) -> FormerChunks:
    """The chunks as they are once these parts are stored."""
    cut = cut_afresh(parts, size, None)
    return FormerChunks(
        [
            FormerChunk(place, piece.part, piece.text if keeps_text else "", piece.print)
            for place, piece in enumerate(cut)
        ]
    )


def again(former: FormerChunks, *parts: Part, size: int = SIZE) -> list[Piece]:
    """The pieces of the new version."""
    return cut_again(parts, former, size, None)


def new(pieces: Sequence[Piece]) -> list[str]:
    """The texts that a model would have to read."""
    return [piece.text for piece in pieces if piece.former is None]


def kept(pieces: Sequence[Piece]) -> list[int]:
    """The places of the stored chunks that stay, in their new order."""
    return [piece.former for piece in pieces if piece.former is not None]


def paragraphs(count: int, seed: int = 0, words: int = 35) -> list[str]:
    """Paragraphs of about one chunk each, all different."""
    dice = random.Random(seed)
    return [f"Section {number}. {' '.join(dice.choices(_WORDS, k=words))}." for number in range(count)]


def squeezed(texts: Sequence[str]) -> str:
    return "".join("".join(texts).split())


def test_an_unchanged_text_keeps_every_chunk() -> None:
    text = "\n\n".join(paragraphs(20))

    pieces = again(stored(part(text)), part(text))

    assert new(pieces) == []
    assert kept(pieces) == list(range(len(pieces)))


@pytest.mark.parametrize("place", [0, 6, 19])
def test_one_changed_chunk_of_twenty_is_the_only_new_one(place: int) -> None:
    sections = paragraphs(20)
    former = stored(part("\n\n".join(sections)))
    assert len(former.chunks) == 20
    sections[place] = sections[place].replace("Section", "Chapter")

    pieces = again(former, part("\n\n".join(sections)))

    assert new(pieces) == [sections[place]]
    assert kept(pieces) == [index for index in range(20) if index != place]


@pytest.mark.parametrize("added", ["A short note.", "A paragraph of its own. " * 8, "Long. " * 80], ids=len)
def test_a_paragraph_at_the_top_leaves_the_rest_alone(added: str) -> None:
    """Case [R094]: at most two chunks of twenty are read again."""
    text = "\n\n".join(paragraphs(20))
    former = stored(part(text))

    pieces = again(former, part(f"{added}\n\n{text}"))

    assert len(new(pieces)) <= 2
    assert len(kept(pieces)) >= 19


def test_a_removed_section_costs_nothing() -> None:
    """Case [R093]."""
    sections = paragraphs(6)
    former = stored(part("\n\n".join(sections)))

    pieces = again(former, part("\n\n".join(sections[:-1])))

    assert new(pieces) == []
    assert kept(pieces) == [0, 1, 2, 3, 4]


def test_a_repeated_paragraph_is_as_many_chunks_as_it_stands_there() -> None:
    """Case [R095]."""
    same = f"{'The same words again and again. ' * 8}".strip()
    former = stored(part("\n\n".join([same] * 5)))
    assert len(former.chunks) == 5

    fewer = again(former, part("\n\n".join([same] * 3)))
    more = again(stored(part("\n\n".join([same] * 5))), part("\n\n".join([same] * 7)))

    assert (kept(fewer), new(fewer)) == ([0, 1, 2], [])
    assert (kept(more), new(more)) == ([0, 1, 2, 3, 4], [same, same])


def test_moved_sections_are_kept_where_they_went() -> None:
    sections = paragraphs(5)
    former = stored(part("\n\n".join(sections)))

    pieces = again(former, part("\n\n".join(reversed(sections))))

    assert new(pieces) == []
    assert kept(pieces) == [4, 3, 2, 1, 0]


def test_where_no_text_is_kept_hashes_of_plain_chunks_decide() -> None:
    sections = paragraphs(6)
    former = stored(part("\n\n".join(sections)), keeps_text=False)
    sections[2] = sections[2].replace("Section", "Chapter")

    pieces = again(former, part("\n\n".join(sections)))

    assert new(pieces) == [sections[2]]


@pytest.mark.parametrize(
    "other",
    [{"context": "other"}, {"happened": datetime(2030, 1, 1, tzinfo=UTC), "is_dated": True}, {"entities": ("Ada",)}],
    ids=["context", "given-date", "entities"],
)
def test_what_decides_the_facts_is_part_of_the_match(other: dict[str, object]) -> None:
    text = "\n\n".join(paragraphs(4))

    pieces = again(stored(part(text)), part(text, **other))

    assert kept(pieces) == []
    assert len(new(pieces)) == 4


@pytest.mark.parametrize(
    "other",
    [{"tags": ("t",)}, {"metadata": {"k": "v"}}, {"observation_scopes": "per_tag"}, {"happened": None}],
    ids=["tags", "metadata", "scopes", "moment-of-submission"],
)
def test_labels_are_not(other: dict[str, object]) -> None:
    text = "\n\n".join(paragraphs(4))

    assert new(again(stored(part(text)), part(text, **other))) == []


def test_a_short_chunk_is_not_found_inside_a_sentence() -> None:
    former = stored(part("A quiet harbour."))

    pieces = again(former, part(f"{'x' * 200} they had never seen A quiet harbour. {'y' * 200}"))

    assert kept(pieces) == []


def test_text_without_sentences_is_found_again_behind_a_change() -> None:
    words = [f"w{number}" for number in range(600)]
    former = stored(part(" ".join(words)))
    words[300] = "changed"

    pieces = again(former, part(" ".join(words)))

    assert len(new(pieces)) == 1
    assert len(kept(pieces)) == len(former.chunks) - 1


def test_a_growing_conversation_keeps_its_full_chunks() -> None:
    turns = [{"role": "user", "content": f"turn {number} {'word ' * 12}"} for number in range(40)]
    former = stored(part(json.dumps(turns[:30])))

    pieces = again(former, part(json.dumps(turns)))

    held = [turn for piece in pieces for turn in json.loads(piece.text)]
    assert held == turns
    assert len(kept(pieces)) >= len(former.chunks) - 1
    assert sum(len(json.loads(text)) for text in new(pieces)) <= 13


def test_json_lines_are_matched_by_line() -> None:
    lines = [json.dumps({"n": number, "text": "word " * 12}) for number in range(30)]
    former = stored(part("\n".join(lines)))

    pieces = again(former, part("\n".join([json.dumps({"n": "new", "text": "x" * 150}), *lines])))

    assert [line for piece in pieces for line in piece.text.split("\n")][1:] == lines
    assert len(kept(pieces)) >= len(former.chunks) - 1


def test_a_sliver_joins_its_neighbour_and_a_chunk_a_little_too_long_stays_whole() -> None:
    former = stored(part("\n\n".join(paragraphs(3, words=25))))

    pieces = again(former, part("\n\n".join(["Oh.", *paragraphs(3, words=25)])))

    assert len(pieces) == 3
    assert new(pieces)[0].startswith("Oh.\n\nSection 0.")


def test_parts_share_the_stored_chunks_each_once() -> None:
    first, second = paragraphs(2)
    former = stored(part(first), part(second))

    pieces = again(former, part(second), part("Something new."), part(first))

    assert [(piece.part, piece.former) for piece in pieces] == [(0, 1), (1, None), (2, 0)]


_PROSE = st.lists(st.sampled_from([*_WORDS, "Stop.", "what?", "\n", "\n\n", "。", "漢字", "a, b"]), max_size=120)


@given(before=_PROSE, after=_PROSE, at=st.integers(0, 120))
def test_nothing_is_lost_or_said_twice_whatever_changed(before: list[str], after: list[str], at: int) -> None:
    text = " ".join(before)
    changed = " ".join([*before[:at], *after, *before[at:]])
    former = stored(part(text), size=60)

    pieces = again(former, part(changed), size=60)

    assert squeezed([piece.text for piece in pieces]) == squeezed([changed])
    assert len(set(kept(pieces))) == len(kept(pieces))
    for piece in pieces:
        assert piece.print == fingerprint(piece.text, part(changed))
        if piece.former is not None:
            assert piece.text == former.chunks[piece.former].text


def test_a_long_document_of_like_lines_is_matched_in_one_pass() -> None:
    lines = [f"Line {number}: the value of the measured thing is {number}." for number in range(4_000)]
    former = stored(part("\n".join(lines)), size=60)
    del lines[1_000:1_500]
    lines.insert(0, "Line X: something else was measured on that day.")

    pieces = again(former, part("\n".join(lines)), size=60)

    assert new(pieces) == [lines[0]]
    assert len(kept(pieces)) == 3_500
