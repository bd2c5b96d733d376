"""Index terms: the same for what is stored and what is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.text.terms import LONGEST_TERM, frequencies, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cats were running", ["cat", "run"]),
        ("Mara's cat", ["mara", "cat"]),
        ("Mara’s cat", ["mara", "cat"]),
        ("don't stop!", ["stop"]),
        ("what is the", ["what", "is", "the"]),
        ("café RÉSUMÉ", ["cafe", "resum"]),
        ("ＡＢＣ１２３", ["abc123"]),
        ("AB-1234", ["ab", "1234", "ab-1234"]),
        ("v1.2.3", ["v1", "2", "3", "v1.2.3"]),
        ("user_id", ["user", "id", "user_id"]),
        ("$1,299.00", ["1", "299", "00", "299.00", "1299", "1299.00"]),
        ("2.500.000,5 €", ["2", "500", "000", "2.500.000", "5", "2500000", "2500000.5"]),
        ("CHF 12'500", ["chf", "12", "500", "12'500", "12500"]),
        ("2,25 1,2345 x1,234", ["2", "25", "1", "2345", "x1", "234"]),
        ("Müller", ["muller", "mueller"]),
        ("Mueller", ["mueller"]),
        ("Straße", ["strass"]),
        ("the IT department", ["it", "depart"]),
        ("US-based, says WHO", ["us", "base", "say", "who"]),
        ("THE IT DEPARTMENT", ["depart"]),
        ("it is the department", ["depart"]),
        ("IT", ["it"]),
        ("2024-05-01", ["2024", "05", "01", "2024-05-01"]),
        ("state-of-the-art", ["state", "art"]),
        ("собаки", ["собак"]),
        ("हिन्दी", ["हिन्द"]),
        ("東京", ["東", "京", "東京"]),
        ("猫", ["猫"]),
        ("タワー", ["タワ", "ワー"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("ไทย", ["ไท", "ทย"]),
        ("iPhone15を", ["iphone15", "を"]),
        ("😀 … !", []),
        ("", []),
        ("___", []),
    ],
)
def test_a_text_gives_its_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_question_about_a_part_meets_the_text_about_the_whole() -> None:
    stored = set(terms("昨日、東京タワーで写真を撮った。Ticket HZ-77 closed."))

    assert set(terms("東京")) <= stored
    assert set(terms("写")) <= stored
    assert set(terms("hz-77")) <= stored


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("1299", "The bike was $1,299.00."),
        ("$1,299", "The bike was 1299 dollars."),
        ("1.299,50", "It came to 1299.50."),
        ("Mueller", "Frau Müller called."),
        ("Muller", "Frau Müller called."),
        ("Müller", "Frau Mueller called."),
        ("IT", "She leads the IT department."),
        ("who leads IT", "She leads the IT department."),
    ],
)
def test_another_spelling_of_the_same_is_found(asked: str, stored: str) -> None:
    assert set(terms(asked)) & set(terms(stored)) - {"lead"}


def test_repeats_are_counted_and_order_is_kept() -> None:
    assert frequencies("tea, coffee and more tea") == {"tea": 2, "coffe": 1, "more": 1}


def test_a_count_ends_where_the_column_does() -> None:
    assert frequencies("tea " * 40_000) == {"tea": 32_767}


def test_a_megabyte_without_a_space_gives_one_short_term() -> None:
    assert terms("x" * 1_000_000) == ["x" * LONGEST_TERM]


@given(st.text(max_size=200))
def test_any_text_gives_storable_terms_twice_the_same(text: str) -> None:
    found = terms(text)

    assert terms(text) == found
    assert all(0 < len(term) <= LONGEST_TERM for term in found)
    assert all("\0" not in term and term.encode() for term in found)


def test_the_stemmer_loads_one_language_not_all() -> None:
    script = (
        "import sys; from hindsight_aws.text.terms import terms; terms('running');"
        "print(sum(name.startswith('snowballstemmer.') and name.endswith('_stemmer') for name in sys.modules))"
    )

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=_path())

    assert loaded.stdout.strip() == "1"


def _path() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(path for path in sys.path if path)}
