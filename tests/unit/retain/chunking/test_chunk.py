"""Chunking: nothing is lost, nothing is cut that a reader or a parser sees as one."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.text.sanitise import clean

_WORDS = st.text("abc .!?,;\n\r\t\"')漢字。、！é👍🏽\u200d👨👩👧🇩🇪\u05d0\u0301", max_size=400).map(clean)
_TURNS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": _WORDS}), max_size=12
)
_SIZES = st.integers(40, 120)


def _squeezed(text: str) -> str:
    return "".join(text.split())


@given(_WORDS, _SIZES)
def test_prose_keeps_every_sign_in_order(text: str, size: int) -> None:
    chunks = chunk_text(text, size)

    assert _squeezed("".join(chunks)) == _squeezed(text)


@given(_WORDS, _SIZES)
def test_prose_chunks_fit(text: str, size: int) -> None:
    assert all(len(chunk) <= size for chunk in chunk_text(text, size))


@given(
    st.one_of(
        _WORDS,
        _TURNS.map(lambda turns: json.dumps(turns, ensure_ascii=False)),
        _TURNS.map(lambda turns: "\r\n".join(json.dumps(turn) for turn in turns)),
    ),
    _SIZES,
    st.integers(0, 200),
)
def test_a_chunk_chunked_again_is_itself(text: str, size: int, structured: int) -> None:
    for chunk in chunk_text(text, size, structured or None):
        assert chunk_text(chunk, size, structured or None) == [chunk]  # fmt: skip


@given(_TURNS, st.integers(120, 200))
def test_conversations_keep_what_was_said(turns: list[dict[str, str]], size: int) -> None:
    chunks = chunk_text(json.dumps(turns, ensure_ascii=False), size)

    said = [turn["content"] for chunk in chunks for turn in json.loads(chunk)]
    assert _squeezed("".join(said)) == _squeezed("".join(turn["content"] for turn in turns))


def test_text_of_exactly_the_size_is_one_chunk() -> None:
    assert chunk_text("x" * 3000, 3000) == ["x" * 3000]
    assert [len(chunk) for chunk in chunk_text("x" * 3001, 3000)] == [3000, 1]


def test_no_chunk_starts_with_the_mark_that_ends_a_sentence() -> None:
    chunks = chunk_text("Hello world. " * 500, 3000)

    assert all(chunk.startswith("Hello") and chunk.endswith(".") for chunk in chunks)


def test_cjk_text_is_cut_after_sentences() -> None:
    chunks = chunk_text("彼は東京に住んでいる。毎朝走る！元気ですか？" * 100, 300)

    assert all(chunk[-1] in "。！？" for chunk in chunks)


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "👍🏽", "🇩🇪", "e\u0301"], ids=["family", "skin", "flag", "accent"])
def test_clusters_are_not_cut(cluster: str) -> None:
    chunks = chunk_text(cluster * 500, 101)

    assert all(len(chunk) % len(cluster) == 0 for chunk in chunks)


def test_turns_are_not_cut_and_chunks_are_json() -> None:
    turns = [{"role": "user", "content": f"{number} " + "w" * 480} for number in range(20)]

    chunks = chunk_text(json.dumps(turns), 3000)

    assert [turn for chunk in chunks for turn in json.loads(chunk)] == turns
    assert all(len(chunk) <= 3000 for chunk in chunks)


def test_a_turn_stays_as_it_was_written() -> None:
    turn = '{"n": 1.0e5,  "n": 2, "t": "\\ud83d\\ude00"}'

    assert chunk_text(f"[{turn}, {turn}]", 60) == [f"[{turn}]", f"[{turn}]"]


def test_a_giant_turn_is_cut_inside_its_text() -> None:
    turn = {"role": "user", "content": "One sentence here. " * 600}

    pieces = [json.loads(chunk)[0] for chunk in chunk_text(json.dumps([turn]), 3000)]

    assert all(piece["role"] == "user" and piece["content"].startswith("One") for piece in pieces)
    assert len(chunk_text(json.dumps([turn]), 3000, 20_000)) == 1


def test_an_array_of_strings_is_prose() -> None:
    text = json.dumps(["alpha beta"] * 40)

    assert _squeezed("".join(chunk_text(text, 100))) == _squeezed(text)


def test_a_padded_empty_array_is_one_chunk() -> None:
    assert chunk_text("[" + " " * 200 + "]", 100) == ["[]"]


def test_json_lines_are_kept_whole() -> None:
    lines = [json.dumps({"content": "w" * 40, "n": number}) for number in range(9)]

    chunks = chunk_text("\r\n\r\n".join(lines), 130)

    assert [line for chunk in chunks for line in chunk.split("\n")] == lines


def test_one_line_that_is_no_object_makes_it_prose() -> None:
    text = "\n".join([*(json.dumps({"n": number}) for number in range(20)), "not json"])

    assert re.sub(r"\s", "", "".join(chunk_text(text, 50))) == re.sub(r"\s", "", text)


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000,
                                  '[{"n":' + "9" * 6000 + "}]"],
                         ids=["deep-array", "deep-object", "giant-number"])  # fmt: skip
def test_hostile_json_is_prose(text: str) -> None:
    assert "".join(chunk_text(text, 1000)) == text
