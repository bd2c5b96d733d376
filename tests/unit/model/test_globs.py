"""What is told of two patterns without trying every tag is never wrong."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.globs import can_match, covers, example

GLOBS = st.text("ab:*?[]!-", max_size=6)
TAGS = st.text("ab:[]!-", max_size=6)


@pytest.mark.parametrize(
    ("wide", "narrow", "is_covered"),
    [
        ("*", "company:*", True),
        ("company:*", "company:acme", True),
        ("company:*", "company:ac*", True),
        ("company:ac*", "company:*", False),
        ("*:acme", "company:*:acme", True),
        ("user:?", "user:a", True),
        ("user:?", "user:*", False),
        ("company:acme", "company:acme", True),
        ("Company:*", "company:acme", False),
    ],
)
def test_a_pattern_covers_another(wide: str, narrow: str, is_covered: bool) -> None:
    assert covers(wide, narrow) is is_covered


@given(GLOBS, GLOBS, TAGS)
def test_a_covering_pattern_matches_whatever_the_covered_one_matches(wide: str, narrow: str, tag: str) -> None:
    assert not (covers(wide, narrow) and fnmatchcase(tag, narrow)) or fnmatchcase(tag, wide)


@given(GLOBS)
def test_an_example_is_a_tag_that_the_pattern_matches(glob: str) -> None:
    made = example(glob)

    assert made is None or fnmatchcase(made, glob)


@given(GLOBS, TAGS)
def test_a_pattern_said_to_match_nothing_matches_nothing(glob: str, tag: str) -> None:
    assert can_match(glob) or not fnmatchcase(tag, glob)


def test_a_class_without_characters_matches_nothing() -> None:
    assert not can_match("user:[z-a]")
    assert can_match("user:[a-z]")
