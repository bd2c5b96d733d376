"""Tag filters as a pure function, and their JSON form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import InvalidField
from hindsight_aws.model.tags import (
    AllOf,
    AnyOf,
    Not,
    TagFilter,
    TagGroup,
    TagLeaf,
    TagsMatch,
    group_to_json,
    parse_group,
    parse_groups,
)
from tests.support.tags_truth import Truth, truths

_TAGS = st.sampled_from(["a", "b", "c", "user:1", "A", "ключ", ""])
_LEAVES = st.builds(TagLeaf, st.frozensets(_TAGS, min_size=1, max_size=3), st.sampled_from(TagsMatch))
GROUPS: st.SearchStrategy[TagGroup] = st.recursive(
    _LEAVES,
    lambda children: (
        st.builds(AllOf, st.lists(children, min_size=1, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(children, min_size=1, max_size=3).map(tuple))
        | st.builds(Not, children)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("truth", truths(), ids=lambda truth: truth.name)
def test_a_filter_matches_what_the_truth_table_says(truth: Truth) -> None:
    assert [(item, truth.tags.matches(item)) for item, _ in truth.matches] == list(truth.matches)


def test_empty_groups_hold_always_and_never() -> None:
    assert AllOf(()).matches(["a"])
    assert not AnyOf(()).matches(["a"])


def test_a_filter_without_groups_lets_everything_pass_and_is_false() -> None:
    unfiltered = TagFilter.flat([])

    assert not unfiltered
    assert unfiltered.matches([])
    assert unfiltered.matches(["a"])


def test_narrowing_adds_a_condition_and_takes_none_away() -> None:
    narrowed = TagFilter.flat(["a"], TagsMatch.ANY).narrowed(TagLeaf(frozenset({"user:1"})))

    assert narrowed.matches(["a", "user:1"])
    assert not narrowed.matches(["a"])
    assert not narrowed.matches(["user:1"])
    assert not narrowed.matches([])


@given(GROUPS)
def test_a_group_survives_its_json_form(group: TagGroup) -> None:
    assert parse_group(group_to_json(group)) == group


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("a", "tag_group"),
        ({}, "tag_group"),
        ({"tags": ["a"], "or": []}, "tag_group"),
        ({"or": []}, "tag_group.or"),
        ({"and": []}, "tag_group.and"),
        ({"and": [{"tags": ["a"]}, {"or": {}}]}, "tag_group.and[1].or"),
        ({"not": [{"tags": ["a"]}]}, "tag_group.not"),
        ({"tags": "a"}, "tag_group.tags"),
        ({"tags": [1]}, "tag_group.tags"),
        ({"tags": []}, "tag_group.tags"),
        ({"tags": [], "match": "all"}, "tag_group.tags"),
        ({"tags": ["a"], "match": "some"}, "tag_group.match"),
        ({"tags": ["a"], "match": None}, "tag_group.match"),
        ({"tags": ["a"], "resolve": "near"}, "tag_group.resolve"),
        ({"tags": [f"t{index}" for index in range(201)]}, "tag_group"),
        ({"or": [{"tags": ["a"]}] * 51}, "tag_group"),
    ],
)
def test_a_wrong_group_is_refused_and_its_place_named(value: object, field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        parse_group(value)

    assert refused.value.field == field


def test_a_group_may_be_eight_deep_and_no_deeper() -> None:
    deep: dict[str, object] = {"tags": ["a"]}
    for _ in range(7):
        deep = {"not": deep}

    assert parse_group(deep).matches(["b"])
    with pytest.raises(InvalidField, match="deeper than 8"):
        parse_group({"not": deep})


def test_a_leaf_without_tags_may_ask_for_the_untagged() -> None:
    (group,) = parse_groups([{"tags": [], "match": "exact"}])

    assert group.matches([])
    assert not group.matches(["a"])


def test_a_fuzzy_leaf_is_noticed_wherever_it_stands() -> None:
    fuzzy = parse_groups([{"not": {"or": [{"tags": ["a"]}, {"tags": ["b"], "resolve": "fuzzy"}]}}])

    assert TagFilter(fuzzy).is_fuzzy
    assert not TagFilter.flat(["a"]).is_fuzzy
