"""How alike names are, against what Postgres measures and what must never be taken for one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsight_aws.entities.likeness import likeness
from hindsight_aws.entities.spelling import lookup_keys, spelling_of
from hindsight_aws.text.trigrams import similarity
from tests.support.entities import FLOOR, ONE, TWO

_WORDS = some.sampled_from(["kubernetes", "kubernets", "kubermetes", "são", "sao", "101", "alice", "reyes", "C++"])
_NAMES = some.one_of(some.lists(_WORDS, min_size=1, max_size=3).map(" ".join), some.text(max_size=12))


@pytest.mark.parametrize("pair", ONE.values(), ids=list(ONE))
def test_spellings_of_one_name_are_alike(pair: tuple[str, str]) -> None:
    left, right = (spelling_of(" ".join(name.split())) for name in pair)

    alike = likeness(left, right)

    assert alike is not None
    assert alike > 0.8
    assert similarity(left.text, right.text) >= FLOOR


@pytest.mark.parametrize("pair", TWO.values(), ids=list(TWO))
def test_names_of_two_things_are_never_alike(pair: tuple[str, str]) -> None:
    assert likeness(spelling_of(pair[0]), spelling_of(pair[1])) is None


@given(_NAMES, _NAMES)
def test_likeness_knows_no_order(left: str, right: str) -> None:
    ours, theirs = spelling_of(left), spelling_of(right)

    assert likeness(ours, theirs) == likeness(theirs, ours)


@given(_NAMES, _NAMES)
def test_names_that_are_alike_share_a_key(left: str, right: str) -> None:
    ours, theirs = spelling_of(left), spelling_of(right)

    if likeness(ours, theirs) is not None and ours.words:
        assert set(lookup_keys(ours)) & set(lookup_keys(theirs))


@given(_NAMES)
def test_a_name_is_wholly_like_itself(name: str) -> None:
    assert likeness(spelling_of(name), spelling_of(name)) == 1.0
