"""Tags in use: counted, found by pattern, in order, page by page."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.integration.curation.conftest import Desk, says

MARKED = {
    "a": ["user:ann", "100%", "a_b"],
    "b": ["user:ann", "User:Bob", "axb"],
    "c": ["user:ann", "100 pct", "back\\slash"],
}


@pytest.fixture
def marked(desk: Desk) -> Desk:
    for document, tags in MARKED.items():
        desk.retain(says(f"Fact {document}."), document_id=document, tags=[*tags], content=f"letter {document}")
    return desk


def tags(desk: Desk, query: str = "") -> list[tuple[str, int]]:
    return [(item["tag"], item["count"]) for item in desk.get(f"/tags{query}")["items"]]


PATTERNS: dict[str, tuple[str, set[str]]] = {
    "prefix": ("user:*", {"user:ann", "User:Bob"}),
    "in any case": ("USER:B*", {"User:Bob"}),
    "whole": ("user:ann", {"user:ann"}),
    "part without a star": ("user", set()),
    "underscore": ("a_b", {"a_b"}),
    "percent": ("100%", {"100%"}),
    "percent alone": ("%", set()),
    "underscores alone": ("___", set()),
    "backslash": ("back\\slash", {"back\\slash"}),
    "star in the middle": ("a*b", {"a_b", "axb"}),
    "stars around": ("*00*", {"100%", "100 pct"}),
}


@pytest.mark.parametrize(("pattern", "found"), PATTERNS.values(), ids=[f"R129-{name}" for name in PATTERNS])
def test_in_a_pattern_only_the_star_stands_for_others(marked: Desk, pattern: str, found: set[str]) -> None:
    assert {tag for tag, _ in tags(marked, f"?q={quote(pattern)}")} == found


def test_tags_come_most_used_first_then_by_name_and_page_by_page(marked: Desk) -> None:
    """[R129] The total does not depend on the page."""
    whole = tags(marked)
    pages = [marked.get(f"/tags?limit=2&offset={offset}") for offset in (0, 2, 4, 6)]

    assert whole[0] == ("user:ann", 3)
    assert [tag for tag, _ in whole[1:]] == sorted(tag for tag, _ in whole[1:])
    assert [(item["tag"], item["count"]) for page in pages for item in page["items"]] == whole
    assert {page["total"] for page in pages} == {len(whole)}


def test_an_archived_fact_counts_for_no_tag(marked: Desk) -> None:
    (fact,) = [item["id"] for item in marked.get("/memories/list?tags=axb&tags_match=any_strict")["items"]]

    marked.patch(fact, state="invalidated")

    assert dict(tags(marked)) == {"user:ann": 2, "100%": 1, "a_b": 1, "100 pct": 1, "back\\slash": 1}


def test_tags_of_mental_models_are_those_of_mental_models(marked: Desk) -> None:
    assert tags(marked, "?source=mental_models") == []
    assert marked.call("GET", "/v1/default/banks/desk/tags?source=facts").status == 422
