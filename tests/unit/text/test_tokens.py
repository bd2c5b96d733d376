"""Token estimates, against the vocabulary that they stand for (o200k, in the wheel of bpe-openai)."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Protocol
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.text.tokens import count_tokens, fewest_tokens, truncate

_TESTS = Path(__file__).parents[2]
_CORPUS: dict[str, list[str]] = json.loads((_TESTS / "fixtures" / "token_corpus.json").read_text("utf-8"))
_A_THIRD, _A_TENTH = 1 / 3, 0.1
_SHORT = 20
"""Tokens of a text that is too short for the bound: there, three tokens more or less may be."""

_MADE: dict[str, Callable[[random.Random], str]] = {
    "base64": lambda rng: base64.b64encode(rng.randbytes(300)).decode(),
    "hex": lambda rng: rng.randbytes(100).hex(),
    "uuids": lambda rng: "\n".join(str(UUID(int=rng.getrandbits(128))) for _ in range(5)),
    "digits": lambda rng: "".join(rng.choices("0123456789", k=300)),
    "letters": lambda rng: "".join(rng.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", k=300)),
    "English with a key in it": lambda rng: f"The key is {base64.b64encode(rng.randbytes(60)).decode()} today.",
}
_IN_BULK = {
    "English": sorted((_TESTS.parent / "docs" / "howto").glob("*.md")),
    "code": sorted((_TESTS.parent / "shared" / "hindsight_aws" / "recall").glob("*.py")),
    "SQL": sorted((_TESTS.parent / "shared" / "hindsight_aws" / "store" / "sql").glob("*.sql")),
    "JSON": [_TESTS / "fixtures" / "scope-expansion.json", _TESTS / "fixtures" / "strategy-resolution.json"],
}


class _Vocabulary(Protocol):
    special_tokens_set: set[str]

    def encode(self, text: str, *, disallowed_special: tuple[str, ...]) -> list[int]: ...


@cache
def _vocabulary() -> _Vocabulary:
    """Read when it is asked for, which takes two seconds: most processes of a run do not."""
    import bpe_openai  # type: ignore[import-untyped]  # ships no types

    encoding: _Vocabulary = bpe_openai.get_encoding("o200k_base")
    return encoding


def _real(text: str) -> int:
    return len(_vocabulary().encode(text, disallowed_special=()))


def _off(text: str) -> str | None:
    """What is wrong with the estimate of a text, or None."""
    real, estimated = _real(text), count_tokens(text)
    if abs(estimated - real) <= (max(3, _A_THIRD * real) if real < _SHORT else _A_THIRD * real):
        return None
    return f"{estimated} for {real}: {text[:60]}"


@pytest.mark.parametrize("kind", _CORPUS)
def test_a_text_of_any_language_is_off_by_no_more_than_a_third(kind: str) -> None:
    assert [wrong for text in _CORPUS[kind] if (wrong := _off(text))] == []


@pytest.mark.parametrize("kind", _MADE)
def test_what_no_word_is_in_is_off_by_no_more_than_a_third(kind: str, seed: int) -> None:
    rng = random.Random(seed)

    assert [wrong for _ in range(20) if (wrong := _off(_MADE[kind](rng)))] == []


@pytest.mark.parametrize("kind", _IN_BULK)
def test_english_code_and_json_in_bulk_are_off_by_no_more_than_a_tenth(kind: str) -> None:
    text = "\n".join(path.read_text("utf-8") for path in _IN_BULK[kind])[:60_000]

    assert count_tokens(text) == pytest.approx(_real(text), rel=_A_TENTH)


def test_all_languages_together_are_off_by_no_more_than_a_tenth() -> None:
    texts = [text for texts in _CORPUS.values() for text in texts]

    assert sum(map(count_tokens, texts)) == pytest.approx(sum(map(_real, texts)), rel=_A_TENTH)


def test_the_words_of_a_chat_format_are_plain_text() -> None:
    special = min(_vocabulary().special_tokens_set)

    assert _real(special) > 1
    assert count_tokens(special) > 1
    assert count_tokens(special * 10) > 10


def test_nothing_is_no_token() -> None:
    assert count_tokens("") == 0


def test_a_text_within_the_limit_is_left_alone() -> None:
    assert truncate("tea and coffee", 3) == "tea and coffee"


def test_a_text_over_the_limit_is_cut_to_it() -> None:
    cut = truncate("tea and coffee and water", 3)

    assert "tea and coffee".startswith(cut.rstrip()) or cut.startswith("tea and coffee")
    assert count_tokens(cut) <= 3


def test_a_limit_of_nothing_leaves_nothing() -> None:
    assert truncate("tea", 0) == ""


@given(st.text(max_size=300), st.integers(0, 40))
def test_a_cut_is_a_beginning_that_fits(text: str, most: int) -> None:
    cut = truncate(text, most)

    assert text.startswith(cut)
    assert count_tokens(cut) <= most


@given(st.text(max_size=100))
def test_every_text_has_a_count(text: str) -> None:
    assert 0 <= count_tokens(text) <= 4 * len(text)


@pytest.mark.parametrize("kind", [*_CORPUS, *_MADE])
def test_no_text_of_any_kind_counts_less_than_its_fewest(kind: str) -> None:
    texts = _CORPUS[kind] if kind in _CORPUS else [_MADE[kind](random.Random(1))]

    assert all(fewest_tokens(text) <= count_tokens(text) for text in texts)


@given(st.text(alphabet=st.sampled_from("aZ9é_-'/ \n漢"), max_size=300) | st.text(max_size=100))
def test_the_fewest_tokens_are_never_more_than_are_counted(text: str) -> None:
    assert fewest_tokens(text) <= count_tokens(text)
    assert fewest_tokens("Counterrevolutionaries " * 100) > 150, "prose that cannot fit is seen not to"
