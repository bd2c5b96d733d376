"""Evidence past one call: packed into parts without loss, and the claims of each part read back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.ports.model_gateway import JsonObject, ToolResult, ToolUse, Turn
from hindsight_aws.reflect.conversation.blanking import compacted
from hindsight_aws.reflect.conversation.claims import MOST_CHUNKS, entries, fitted, pack, part, read_claims, sizes
from hindsight_aws.reflect.conversation.evidence import Evidence
from hindsight_aws.text.tokens import count_tokens

_sizes = st.lists(st.integers(1, 5_000), max_size=400)


@given(_sizes, st.integers(1_024, 8_000))
def test_every_entry_is_in_exactly_one_part_and_no_part_is_larger_than_its_room(
    of: list[int], room: int
) -> None:  # [X016]
    chunks, most = pack(of, room)

    assert [place for start, end in chunks for place in range(start, end)] == list(range(len(of)))
    assert len(chunks) <= MOST_CHUNKS
    assert all(sum(min(size, most) for size in of[start:end]) <= room for start, end in chunks)


def test_parts_are_filled_one_after_the_other() -> None:
    assert pack([500] * 5, 1_024) == (((0, 2), (2, 4), (4, 5)), 1_024)


def piece(alias: str, text: str, *sources: str) -> Evidence:
    return Evidence(alias, f"id-{alias}", text, "2026-01-01", sources)


def test_what_was_opened_beneath_a_piece_is_packed_apart_from_it() -> None:
    evidence = [piece("f1", "Bea moved.", "A whole letter.", "Bea moved."), piece("f2", "Bea sings.")]

    assert [(entry.alias, entry.text) for entry in entries(evidence)] == [
        ("f1", "Bea moved."),
        ("f1", "A whole letter."),
        ("f2", "Bea sings."),
    ]
    assert len(sizes(evidence)) == 3


def test_only_an_entry_that_alone_is_too_large_is_cut() -> None:
    evidence = [piece("f1", "word " * 900), piece("f2", "Bea sings.")]

    shown = part(evidence, (0, 2), 100)

    assert count_tokens(shown[0].text) <= 104
    assert shown[0].text.endswith("[…]")
    assert shown[1].text == "Bea sings."


def test_claims_are_read_with_the_aliases_that_were_shown_and_nothing_else() -> None:
    reply: JsonObject = {
        "claims": [
            {"text": " Bea moved. ", "ids": ["f1", "f9", "f2"], "date": "2026-01-01"},
            {"text": "Invented.", "ids": ["f9"]},
            {"text": " ", "ids": ["f1"]},
            {"text": "Bare.", "ids": "f2"},
            "noise",
        ]
    }

    assert read_claims(reply, ["f1", "f2"]) == [
        {"id": "f1", "text": "Bea moved.", "also": ["f2"], "mentioned_at": "2026-01-01"},
        {"id": "f2", "text": "Bare."},
    ]


def test_claims_past_their_room_are_cut_and_keep_what_they_rest_on() -> None:
    claims = fitted([{"id": "f1", "text": "word " * 500, "also": ["f2"]}, {"id": "f3", "text": "Short."}], 200)

    assert [claim["id"] for claim in claims] == ["f1", "f3"]
    assert claims[0]["also"] == ["f2"]
    assert count_tokens(str(claims[0]["text"])) < 210


def turn(place: int, words: int) -> Turn:
    used = f"use-{place}"
    return Turn("", (ToolUse(used, "recall", {}),), (ToolResult(used, {"memories": "word " * words}),))


def test_the_oldest_results_are_blanked_until_the_conversation_fits() -> None:  # [X014]
    turns = [turn(0, 500), turn(1, 500), turn(2, 500)]

    shown = compacted(turns, 1_100)

    assert [len(str(one.results[0].document)) > 1_000 for one in shown] == [False, True, True]
    assert [one.results[0].use_id for one in shown] == ["use-0", "use-1", "use-2"]
    assert compacted(turns, 10_000) == tuple(turns)
