"""Which directives bind an answer: by the tags of the request, and within what the caller's key may see."""

from __future__ import annotations

import pytest

from hindsight_aws.model.directive import selection
from hindsight_aws.model.tags import Not, TagFilter, TagLeaf, TagsMatch

NONE = TagFilter()
A, B = ("a",), ("b",)
ANY, ALL, EXACT = TagsMatch.ANY, TagsMatch.ALL, TagsMatch.EXACT
LEAF_A = TagFilter((TagLeaf(frozenset(A)),))

TABLE = [
    pytest.param(NONE, False, (), True, id="[X041] no tags: an untagged one applies"),
    pytest.param(NONE, False, A, False, id="[X041] no tags: a tagged one does not"),
    pytest.param(TagFilter.flat(A, ANY), False, (), True, id="[X042] any of a: untagged"),
    pytest.param(TagFilter.flat(A, ANY), False, A, True, id="[X042] any of a: a"),
    pytest.param(TagFilter.flat(A, ANY), False, B, False, id="[X042] any of a: not b"),
    pytest.param(TagFilter.flat((*A, *B), ALL), False, A, False, id="[X042] all of a and b: not a alone"),
    pytest.param(TagFilter.flat((*A, *B), ALL), False, (*A, *B, "c"), True, id="[X042] all of a and b: a, b and c"),
    pytest.param(
        TagFilter.flat(A, TagsMatch.ANY_STRICT), False, (), True, id="strictly any of a: untagged all the same"
    ),
    pytest.param(TagFilter.flat(A, EXACT), False, (), True, id="exactly a: untagged, always"),
    pytest.param(TagFilter.flat(A, EXACT), False, (*A, *B), False, id="exactly a: not a and b"),
    pytest.param(LEAF_A, False, A, True, id="a group's leaf a: a"),
    pytest.param(LEAF_A, False, (), True, id="a group's leaf a: untagged"),
    pytest.param(TagFilter((Not(TagLeaf(frozenset(A))),)), False, A, False, id="not a: not a"),
    pytest.param(TagFilter((Not(TagLeaf(frozenset(A))),)), False, B, True, id="not a: b"),
    pytest.param(NONE, True, A, True, id="[X043] all of them: a tagged one without tags asked for"),
    pytest.param(TagFilter.flat(B, EXACT), True, A, True, id="[X043] all of them: whatever tags are asked for"),
    pytest.param(TagFilter.flat((), EXACT), False, A, False, id="[X047] exactly none: a tagged one does not"),
    pytest.param(TagFilter.flat((), EXACT), False, (), True, id="[X047] exactly none: an untagged one does"),
]


@pytest.mark.parametrize(("asked", "apply_all", "tags", "applies"), TABLE)
def test_a_directive_applies_by_its_tags(
    asked: TagFilter, apply_all: bool, tags: tuple[str, ...], applies: bool
) -> None:
    assert selection(asked, apply_all).matches(tags) is applies


@pytest.mark.parametrize("apply_all", [False, True])
@pytest.mark.parametrize(("tags", "applies"), [((), True), (A, True), (B, False)])
def test_what_a_key_is_limited_to_counts_as_asked_for_and_is_never_passed(
    apply_all: bool, tags: tuple[str, ...], applies: bool
) -> None:
    assert selection(NONE, apply_all, LEAF_A).matches(tags) is applies


def test_a_request_and_a_key_must_both_let_a_tagged_directive_pass() -> None:
    chosen = selection(TagFilter.flat(B, ANY), False, LEAF_A)

    assert [chosen.matches(tags) for tags in (A, B, (*A, *B), ())] == [False, False, True, True]
