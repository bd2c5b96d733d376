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


_KINDS: dict[str, st.SearchStrategy[str]] = {
    "prose": st.text("abc .!?,;:\n\t\"')", max_size=400),
    "crlf": st.lists(st.text("ab c.", max_size=40), max_size=12).map("\r\n".join),
    "cjk": st.text("漢字かなカナ。、！？；「」 \n", max_size=400),
    "rtl": st.text("\u05d0\u05d1\u05d2\u0627\u0628\u062a\u200f\u202e .،؟\n", max_size=400),
    "emoji": st.text("👍🏽👨👩👧\u200d🇩🇪e\u0301 .\n", max_size=400),
    "mixed": _WORDS,
    "json": _TURNS.map(lambda turns: json.dumps(turns, ensure_ascii=False)),
    "json-lines": _TURNS.map(lambda turns: "\r\n".join(json.dumps(turn) for turn in turns)),
}
_OF_EACH_KIND = pytest.mark.parametrize("kind", _KINDS)


@_OF_EACH_KIND
@given(data=st.data(), size=_SIZES, structured=st.integers(0, 200))
def test_a_chunk_chunked_again_is_itself(kind: str, data: st.DataObject, size: int, structured: int) -> None:
    """[R027]: or the ids of chunks would collide."""
    text = clean(data.draw(_KINDS[kind]))

    for chunk in chunk_text(text, size, structured or None):
        assert chunk_text(chunk, size, structured or None) == [chunk]


@pytest.mark.parametrize("kind", [kind for kind in _KINDS if not kind.startswith("json")])
@given(data=st.data(), size=_SIZES)
def test_prose_keeps_every_sign_in_order_and_its_chunks_fit(kind: str, data: st.DataObject, size: int) -> None:
    """[R028]."""
    text = clean(data.draw(_KINDS[kind]))

    chunks = chunk_text(text, size)

    assert _squeezed("".join(chunks)) == _squeezed(text)
    assert all(len(chunk) <= size for chunk in chunks)


@given(st.lists(st.text("ab c.\n{}", min_size=1, max_size=30), min_size=1, max_size=12), st.integers(80, 120))
def test_turns_that_fit_are_in_the_chunks_once_and_in_order(said: list[str], size: int) -> None:
    """[R028], for conversations."""
    turns = [json.dumps({"content": text}) for text in said]

    of_array = [json.loads(chunk) for chunk in chunk_text(f"[{' , '.join(turns)}]", size)]
    of_lines = [json.loads(line) for chunk in chunk_text("\n".join(turns), size) for line in chunk.splitlines()]

    expected = [{"content": text} for text in said]
    assert [turn for chunk in of_array for turn in (chunk if isinstance(chunk, list) else [chunk])] == expected
    assert of_lines == expected


@given(_TURNS, st.integers(120, 200))
def test_conversations_keep_what_was_said(turns: list[dict[str, str]], size: int) -> None:
    chunks = chunk_text(json.dumps(turns, ensure_ascii=False), size)

    said = [turn["content"] for chunk in chunks for turn in json.loads(chunk)]
    assert _squeezed("".join(said)) == _squeezed("".join(turn["content"] for turn in turns))


def test_text_of_exactly_the_size_is_one_chunk() -> None:
    """[R026]."""
    assert chunk_text("x" * 3000, 3000) == ["x" * 3000]
    assert [len(chunk) for chunk in chunk_text("x" * 3001, 3000)] == [3000, 1]


@pytest.mark.parametrize("mark", [".", "!", "?", "…", '."', ";", ","])
def test_no_chunk_starts_with_the_mark_that_ends_a_sentence(mark: str) -> None:
    """[R029]."""
    chunks = chunk_text(f"Hello world{mark} " * 500, 3000)

    assert len(chunks) > 1
    assert all(chunk.startswith("Hello") and chunk.endswith(mark) for chunk in chunks)


@pytest.mark.parametrize(
    "sentences",
    ["彼は東京に住んでいる。毎朝走る！元気ですか？", "我住在北京。你好吗？太好了！", "「もう帰る。」と言った。"],
    ids=["japanese", "chinese", "quoted"],
)
def test_cjk_text_is_cut_after_sentences(sentences: str) -> None:
    """[R030]."""
    chunks = chunk_text(sentences * 100, 300)

    assert len(chunks) > 3
    assert all(chunk[-1] in "。！？」" for chunk in chunks)


@pytest.mark.parametrize(
    ("cluster", "count"),
    [("😀", 3500), ("👨\u200d👩\u200d👧\u200d👦", 1000), ("👍🏽", 500), ("🇩🇪", 500), ("e\u0301", 500)],
    ids=["emoji", "family", "skin", "flag", "accent"],
)
def test_clusters_are_not_cut(cluster: str, count: int) -> None:
    """[R031]."""
    chunks = chunk_text(cluster * count, 101)

    assert all(len(chunk) % len(cluster) == 0 for chunk in chunks)
    assert "".join(chunks) == cluster * count


def test_turns_are_not_cut_and_chunks_are_json() -> None:
    """[R032]."""
    turns = [{"role": "user", "content": f"{number} " + "w" * 480} for number in range(20)]

    chunks = chunk_text(json.dumps(turns), 3000)

    assert [turn for chunk in chunks for turn in json.loads(chunk)] == turns
    assert all(len(chunk) <= 3000 for chunk in chunks)


def test_a_turn_stays_as_it_was_written() -> None:
    turn = '{"n": 1.0e5,  "n": 2, "t": "\\ud83d\\ude00"}'

    assert chunk_text(f"[{turn}, {turn}]", 60) == [f"[{turn}]", f"[{turn}]"]


def test_a_giant_turn_is_cut_inside_its_text() -> None:
    """[R033]: every piece says something."""
    turn = {"role": "user", "content": "One sentence here. " * 600}

    chunks = chunk_text(json.dumps([turn]), 3000)

    pieces = [json.loads(chunk)[0] for chunk in chunks]
    assert all(piece["role"] == "user" and piece["content"].startswith("One") for piece in pieces)
    assert all(len(chunk) <= 3000 for chunk in chunks)


@pytest.mark.parametrize("form", ["[{}]", '{}\n{{"content": "x"}}'], ids=["array", "lines"])
def test_the_pieces_of_a_turn_without_a_place_to_cut_fit(form: str) -> None:
    """[R033]."""
    turn = json.dumps({"role": "user", "content": "w" * 10_000})

    chunks = chunk_text(form.format(turn), 3000)

    assert all(len(chunk) <= 3000 and "content" in chunk for chunk in chunks)
    assert sum(chunk.count("w") for chunk in chunks) == 10_000


def test_a_giant_turn_stays_whole_where_the_limit_for_turns_allows() -> None:
    """[R033]."""
    turn = {"role": "user", "content": "w" * 10_000}

    assert len(chunk_text(json.dumps([turn]), 3000, 20_000)) == 1


@pytest.mark.parametrize("elements", [["alpha beta"] * 40, [*range(200)]], ids=["strings", "numbers"])
def test_an_array_of_anything_but_objects_is_prose(elements: list[object]) -> None:
    """[R034]."""
    text = json.dumps(elements)

    chunks = chunk_text(text, 100)

    assert _squeezed("".join(chunks)) == _squeezed(text)
    assert all(len(chunk) <= 100 for chunk in chunks)


def test_half_an_emoji_in_escapes_makes_no_chunk_that_utf8_cannot_hold() -> None:
    """[R036]."""
    turn = '{"role": "user", "content": "' + "half \\ud83d of it. " * 200 + '"}'

    chunks = chunk_text(f"[{turn}]", 500)

    assert len(chunks) > 3
    assert all(chunk.encode() and json.loads(chunk)[0]["content"].encode() for chunk in chunks)


def test_a_padded_empty_array_is_one_chunk() -> None:
    """[R034]."""
    assert chunk_text("[" + " " * 200 + "]", 100) == ["[]"]


def test_json_lines_are_kept_whole() -> None:
    """[R035]."""
    lines = [json.dumps({"content": "w" * 40, "n": number}) for number in range(9)]

    chunks = chunk_text("\r\n\r\n".join(lines), 130)

    assert [line for chunk in chunks for line in chunk.split("\n")] == lines


def test_one_line_that_is_no_object_makes_it_prose() -> None:
    """[R035]."""
    text = "\n".join([*(json.dumps({"n": number}) for number in range(20)), "not json"])

    assert re.sub(r"\s", "", "".join(chunk_text(text, 50))) == re.sub(r"\s", "", text)


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000,
                                  '[{"n":' + "9" * 6000 + "}]"],
                         ids=["deep-array", "deep-object", "giant-number"])  # fmt: skip
def test_hostile_json_is_prose(text: str) -> None:
    assert "".join(chunk_text(text, 1000)) == text
