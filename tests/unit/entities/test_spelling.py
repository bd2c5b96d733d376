"""The words of a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsight_aws.entities.spelling import lookup_keys, spelling_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("GPT-4", ("gpt", "4")),
        ("UA0123", ("ua", "123")),
        ("Python 3.10", ("python", "3.10")),
        ("Release 2.0", ("release", "2")),
        ("10.0.0.0", ("10.0.0.0",)),
        ("000", ("0",)),
        ("0.5", ("0.5",)),
        ("٤٢", ("42",)),
        ("C++", ("c++",)),
        ("UTC+2", ("utc+", "2")),
        ("Issue #4", ("issue", "4")),
        ("U.S. Steel", ("us", "steel")),
        ("J. Smith", ("j", "smith")),
        ("O'Brien's", ("obriens",)),
        ("H₂O", ("h", "2", "o")),
        ("कमला", ("कमला",)),
        ("🎵", ()),
        ("snake_case", ("snake", "case")),
        ("3.", ("3",)),
    ],
)
def test_a_name_is_read_as_words(name: str, words: tuple[str, ...]) -> None:
    assert spelling_of(name).words == words


def test_accents_are_left_out_where_they_make_no_other_letter() -> None:
    plain = [spelling_of(name).plain[0] for name in ("São", "Ελλάδα", "Андрей", "कमला")]

    assert plain == ["sao", "ελλαδα", "андрей", "कमला"]


def test_a_long_name_has_few_keys() -> None:
    assert len(lookup_keys(spelling_of("a" * 512))) == 1
    assert len(lookup_keys(spelling_of("lengthy " * 9))) == 1
    assert len(lookup_keys(spelling_of("🎵"))) == 0


@given(some.text(max_size=40))
def test_words_of_any_text_are_words_again(name: str) -> None:
    words = spelling_of(name).words

    assert all(word and not word.isspace() for word in words)
    assert spelling_of(" ".join(words)).words == words
