"""Scope resolution: the golden table, its documented differences, and what must hold for any tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.scope import SCOPE_MODES, ObservationScopes, Scope, TooManyScopes, resolve_scopes
from hindsight_aws.retain.intake.accepted import scopes_from_json

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
        pytest.param(None, ["a", "b"], [("a", "b")], id="C001-no-spec-is-all-tags-together"),
        pytest.param("combined", ["b", "a"], [("a", "b")], id="C001-combined"),
        pytest.param(None, [], [()], id="C002-no-tags-no-spec"),
        pytest.param("combined", [], [()], id="C002-no-tags-combined"),
        pytest.param("per_tag", [], [()], id="C002-no-tags-per-tag"),
        pytest.param("all_combinations", [], [()], id="C002-no-tags-all-combinations"),
        pytest.param("shared", ["a", "b"], [()], id="C004-shared"),
        pytest.param(((),), ["a", "b"], [()], id="C005-list-of-an-empty-list-is-shared"),
        pytest.param((), ["a", "b"], [("a", "b")], id="C006-empty-list-is-combined"),
        pytest.param((("x",), ("z", "y")), ["a"], [("x",), ("y", "z")], id="C007-tags-the-fact-lacks"),
        pytest.param((("topic:*", "user:*"),), ["topic:gpu", "topic:lease", "user:d", "session:1"],
                     [("topic:gpu", "topic:lease", "user:d")], id="C008-globs-gather-into-one-scope"),
        pytest.param((("a",), ("a",)), ["a"], [("a",)], id="C014-duplicate-lists-are-one-scope"),
        pytest.param((("b", "a"), ("a", "b", "a")), ["a"], [("a", "b")], id="C014-duplicates-in-other-order"),
        pytest.param((("u:*",), ("u:d",)), ["u:d"], [("u:d",)], id="C014-a-glob-that-meets-a-literal"),
        pytest.param("per_tag", ["a", "a"], [("a",)], id="C014-duplicate-tags-are-one-scope"),
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


@pytest.mark.parametrize("number", [pytest.param(6, id="C015-six"), pytest.param(12, id="C015-twelve")])
def test_combinations_of_more_than_five_tags_are_refused(number: int) -> None:
    with pytest.raises(TooManyScopes, match="at most 5 tags"):
        resolve_scopes([f"t{place}" for place in range(number)], "all_combinations")


def test_combinations_of_five_tags_are_thirty_one_scopes() -> None:
    assert len(resolve_scopes(list("abcde"), "all_combinations")) == 31


@pytest.mark.parametrize("stored", [pytest.param('"per_tag"', id="C011-json"), pytest.param("per_tag", id="C011-bare")])
def test_a_mode_is_read_alike_however_the_driver_gives_it(stored: str) -> None:
    """A column of JSON gives the decoded word; the word itself means the same."""
    decoded = json.loads(stored) if stored.startswith('"') else stored

    assert resolve_scopes(["a", "b"], scopes_from_json(decoded)) == (Scope(("a",)), Scope(("b",)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param((["a"], "combined"), (["a"], (("a",),)), id="C012-another-way-to-say-the-same"),
        pytest.param((["a", "b"], None), (["b", "a"], None), id="C013-another-order-of-tags"),
        pytest.param((["a"], "shared"), (["b"], "shared"), id="other-tags-under-shared"),
    ],
)
def test_specs_that_mean_the_same_scopes_are_equal(before: Any, after: Any) -> None:
    assert set(resolve_scopes(*before)) == set(resolve_scopes(*after))


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
