"""Scope resolution: the golden table, its documented differences, and what must hold for any tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.scope import SCOPE_MODES, ObservationScopes, Scope, TooManyScopes, resolve_scopes

_TABLE = json.loads((Path(__file__).parents[2] / "fixtures" / "scope-expansion.json").read_text("utf-8"))
# Where ours differs from the table: a glob that misses never falls back to volatile tags, so F10 has no scope at all.
_OURS: dict[str, list[list[str]]] = {"F10": []}

_TAGS = st.lists(st.sampled_from(["a", "b", "user:x", "user:y", "session:1", "topic:z", "ü"]), max_size=5)
_ENTRIES = st.lists(st.sampled_from(["a", "user:*", "topic:*", "session:*", "zz", "*"]), max_size=3).map(tuple)
_ASKED: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.sampled_from(SCOPE_MODES), st.lists(_ENTRIES, max_size=4).map(tuple)
)


def _asked(value: Any) -> ObservationScopes | None:
    return tuple(tuple(tags) for tags in value) if isinstance(value, list) else value


@pytest.mark.parametrize("row", _TABLE, ids=lambda row: row["id"])
def test_the_golden_table_holds(row: dict[str, Any]) -> None:
    expected = _OURS.get(row["id"], row["passes"])

    resolved = resolve_scopes(row["tags"], _asked(row["observation_scopes"]))

    assert resolved == tuple(Scope.of(tags) for tags in expected)


@pytest.mark.parametrize(
    ("asked", "tags", "expected"),
    [
        pytest.param((("a",), ("a",)), ["a"], [("a",)], id="C014-duplicate-lists-are-one-scope"),
        pytest.param("per_tag", ["a", "a"], [("a",)], id="duplicate-tags-are-one-scope"),
        pytest.param(((),), ["session:1"], [()], id="T02-list-of-an-empty-list-is-shared"),
        pytest.param((("topic:*",), ("u",)), ["session:1"], [("u",)], id="C009-a-missed-glob-leaves-the-literal-one"),
        pytest.param((("u", "p:*"),), ["q"], [("u",)], id="a-literal-survives-the-glob-beside-it"),
        pytest.param((("topic:*",),), ["session:1", "user:d"], [("user:d",)], id="missed-globs-drop-volatile-tags"),
        pytest.param((("topic:*",),), [], [], id="C010-missed-globs-never-become-the-untagged-scope"),
        pytest.param((("a?", "[b]"),), ["ab"], [("[b]", "a?")], id="only-a-star-makes-a-pattern"),
        pytest.param((("User:*",),), ["user:d"], [("user:d",)], id="patterns-are-case-sensitive"),
        pytest.param("all_combinations", ["c", "a", "b"], [("c",), ("a",), ("b",), ("a", "c"), ("b", "c"), ("a", "b"),
                                                            ("a", "b", "c")], id="C003-combinations-by-size"),
    ],
)  # fmt: skip
def test_what_was_asked_for_is_resolved(
    asked: ObservationScopes, tags: list[str], expected: list[tuple[str, ...]]
) -> None:
    assert resolve_scopes(tags, asked) == tuple(Scope(scope) for scope in expected)


def test_combinations_of_more_than_five_tags_are_refused() -> None:
    with pytest.raises(TooManyScopes, match="at most 5 tags"):
        resolve_scopes([f"t{number}" for number in range(6)], "all_combinations")


@given(_TAGS, _ASKED)
def test_scopes_are_distinct_and_their_tags_sorted(tags: list[str], asked: ObservationScopes | None) -> None:
    resolved = resolve_scopes(tags, asked)

    assert len(set(resolved)) == len(resolved)
    assert all(scope.tags == tuple(sorted(set(scope.tags))) for scope in resolved)


@given(_TAGS, _ASKED)
def test_the_order_of_tags_decides_nothing_but_order(tags: list[str], asked: ObservationScopes | None) -> None:
    assert set(resolve_scopes(tags, asked)) == set(resolve_scopes(tags[::-1], asked))


@given(_TAGS, st.lists(_ENTRIES.filter(bool), min_size=1, max_size=3).map(tuple))
def test_a_list_that_names_tags_never_gives_the_untagged_scope(
    tags: list[str], asked: tuple[tuple[str, ...], ...]
) -> None:
    assert Scope(()) not in resolve_scopes(tags, asked)


def test_scope_keys_tell_tag_sets_apart() -> None:
    assert Scope.of(["a", "b"]).key == Scope.of(["b", "a", "a"]).key
    assert len({Scope.of(tags).key for tags in (["a,b"], ["a", "b"], ['a","b'], [], [""])}) == 5
