"""Fuzzy leaves of tag filters, resolved against the tags that are in use."""

from __future__ import annotations

import re

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
    parse_group,
)
from hindsight_aws.recall.fuzzy_tags import resolved
from hindsight_aws.text.trigrams import similarity

_USED = ("lang:typescript", "lang:python", "typescript", "kafka", "mongo", "Team:Red", "team:red", "user:1")


def _fuzzy(*tags: str, match: TagsMatch = TagsMatch.ANY_STRICT) -> TagLeaf:
    return TagLeaf(frozenset(tags), match, "fuzzy")


def _exact(*tags: str, match: TagsMatch = TagsMatch.ANY_STRICT) -> TagLeaf:
    return TagLeaf(frozenset(tags), match)


def _resolved(group: TagGroup, *used: str) -> TagGroup:
    return resolved(TagFilter((group,)), used or _USED).groups[0]


@pytest.mark.parametrize(
    ("asked", "tag", "measured", "is_found"),
    [("kakfa", "kafka", 0.20, False), ("typescropt", "typescript", 0.57, True), ("mango", "mongo", 0.33, False)],
)
def test_a_tag_is_found_if_it_is_alike_enough(asked: str, tag: str, measured: float, is_found: bool) -> None:
    assert round(similarity(asked, tag), 2) == measured
    assert _resolved(_fuzzy(asked)) == _exact(tag if is_found else asked)


@pytest.mark.parametrize(
    ("group", "place"),
    [
        (Not(_fuzzy("user:alise")), "tag_groups[0].not.tags"),
        (AllOf((_exact("kafka"), Not(AnyOf((_exact("kafka"), _fuzzy("user:alise")))))), ".and[1].not.or[1].tags"),
        (Not(Not(Not(_fuzzy("kafka", "user:alise")))), ".not.not.not.tags"),
    ],
    ids=["leaf", "in a tree", "thrice denied"],
)
def test_what_is_to_be_left_out_must_be_like_some_tag(group: TagGroup, place: str) -> None:
    """Excluding nothing would show what was meant to be hidden; [Q072] the other way round."""
    with pytest.raises(InvalidField, match=re.escape(f"{place} excludes 'user:alise'")):
        _resolved(group)


def test_a_misspelt_tag_that_is_found_is_left_out() -> None:
    assert _resolved(Not(_fuzzy("typescropt"))) == Not(_exact("typescript"))
    assert _resolved(Not(Not(_fuzzy("user:alise")))) == Not(Not(_exact("user:alise")))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param("lang:typescropt", {"lang:typescript"}, id="only in its own namespace"),
        pytest.param("LANG:typescropt", {"lang:typescript"}, id="a namespace is read without regard to case"),
        pytest.param("typescropt", {"typescript"}, id="no namespace is one as well"),
        pytest.param("TEAM:RED", {"Team:Red", "team:red"}, id="the same but for case wins"),
        pytest.param("team:red", {"Team:Red", "team:red"}, id="itself and the same but for case"),
        pytest.param("zzz", {"zzz"}, id="Q072 nothing like it stays as it is"),
        pytest.param("town:paris", {"town:paris"}, id="an unknown namespace stays as it is"),
        pytest.param("", {""}, id="nothing stays nothing"),
    ],
)
def test_what_a_fuzzy_tag_means(asked: str, found: set[str]) -> None:
    assert _resolved(_fuzzy(asked)) == TagLeaf(frozenset(found))


def test_a_tag_that_is_there_keeps_out_those_like_it() -> None:
    assert _resolved(_fuzzy("worker"), "worker", "workers") == _exact("worker")
    assert _resolved(_fuzzy("workerz"), "worker", "workers") == _exact("worker", "workers")


@pytest.mark.parametrize(
    ("match", "one_of"), [(TagsMatch.ALL, TagsMatch.ANY), (TagsMatch.ALL_STRICT, TagsMatch.ANY_STRICT)]
)
def test_all_asks_for_one_of_what_each_tag_means(match: TagsMatch, one_of: TagsMatch) -> None:
    found = _resolved(_fuzzy("kafka", "workerz", match=match), "kafka", "worker", "workers")

    assert found == AllOf((_exact("kafka", match=one_of), _exact("worker", "workers", match=one_of)))


def test_any_asks_for_any_of_what_its_tags_mean() -> None:
    found = _resolved(_fuzzy("kafka", "workerz", match=TagsMatch.ANY), "kafka", "worker", "workers")

    assert found == _exact("kafka", "worker", "workers", match=TagsMatch.ANY)


def test_exact_asks_for_one_of_the_sets_that_are_meant() -> None:
    found = _resolved(_fuzzy("kafka", "workerz", match=TagsMatch.EXACT), "kafka", "worker", "workers")

    each = [_exact("kafka", other, match=TagsMatch.EXACT) for other in ("worker", "workers")]
    assert found == AnyOf(tuple(each))


def test_two_tags_of_an_exact_leaf_never_mean_one() -> None:
    both = _resolved(_fuzzy("worker1", "worker2", match=TagsMatch.EXACT), "workers", "worker")
    alone = _resolved(_fuzzy("worker1", "worker2", match=TagsMatch.EXACT), "worker")

    assert both == AnyOf((_exact("worker", "workers", match=TagsMatch.EXACT),))
    assert not alone.matches(["worker"])


def test_an_exact_leaf_of_too_many_sets_is_refused() -> None:
    """[Q073]."""
    used = [f"{word}{number}" for word in ("alphabet", "zeppelin") for number in range(6)]

    with pytest.raises(InvalidField, match=r"tag_groups resolves to more than 32 combinations"):
        _resolved(_fuzzy("alphabet", "zeppelin", match=TagsMatch.EXACT), *used)


def test_an_exact_leaf_without_tags_means_the_untagged() -> None:
    found = _resolved(_fuzzy(match=TagsMatch.EXACT))

    assert found.matches([])
    assert not found.matches(["kafka"])


def test_leaves_are_resolved_wherever_they_stand() -> None:
    found = _resolved(Not(AllOf((AnyOf((_fuzzy("typescropt"), _exact("typescropt"))),))))

    assert found == Not(AllOf((AnyOf((_exact("typescript"), _exact("typescropt"))),)))


def test_a_filter_that_comes_to_too_many_tags_is_refused() -> None:
    used = [f"number{number:04}" for number in range(1_100)]

    with pytest.raises(InvalidField, match="resolves to more than 1,000 tags"):
        _resolved(_fuzzy("number", match=TagsMatch.ANY), *used)


@given(st.lists(st.sampled_from(_USED), min_size=1, max_size=3), st.sampled_from(TagsMatch))
def test_tags_that_are_in_use_mean_what_they_say_if_no_other_differs_by_case_alone(
    tags: list[str], match: TagsMatch
) -> None:
    used = [tag for tag in _USED if tag != "Team:Red"]
    asked = [tag for tag in tags if tag != "Team:Red"] or ["kafka"]
    fuzzy, exact = _resolved(_fuzzy(*asked, match=match), *used), _exact(*asked, match=match)

    for item in ([], *([tag] for tag in used), asked, [*asked, "user:1"]):
        assert fuzzy.matches(item) == exact.matches(item)


def test_a_stored_filter_may_not_be_fuzzy() -> None:
    fuzzy = {"not": {"tags": ["a"], "resolve": "fuzzy"}}

    with pytest.raises(InvalidField, match="forced tags is stored"):
        parse_group(fuzzy, "forced tags", stored=True)
    assert parse_group({"tags": ["a"]}, stored=True) == parse_group({"tags": ["a"]})
