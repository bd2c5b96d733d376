"""Pages are ranked by their words, arms are joined, and a snippet shows where."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_aws.knowledge.search import by_words, fused, snippet_of
from hindsight_aws.ports.knowledge import PageText
from hindsight_aws.text.terms import terms

AT = datetime(2031, 1, 1, tzinfo=UTC)


def page(node_id: str, name: str, content: str = "", question: str = "What of it?") -> PageText:
    return PageText(node_id, f"mm-{node_id}", name, question, content, AT)


def test_a_page_of_that_name_comes_before_one_that_mentions_it() -> None:
    pages = [page("a", "Bees", "Roses, too."), page("b", "Roses", "All about them."), page("c", "Cars", "Fast.")]

    assert by_words(terms("the roses"), pages) == ["b", "a"]
    assert by_words(terms("boats"), pages) == []
    assert by_words(["x"], []) == []


@pytest.mark.parametrize(
    ("arms", "scores"),
    [
        ([["a"], ["a"]], {"a": 1.0}), ([["a"], []], {"a": 0.5}), ([["a", "b"]], {"a": 1.0, "b": 60 / 61}),
        ([[], []], {}),
    ],
    ids=["both", "one", "alone", "none"],
)  # fmt: skip
def test_a_score_is_the_share_of_being_first_everywhere(arms: list[list[str]], scores: dict[str, float]) -> None:
    assert fused(arms) == pytest.approx(scores)


def test_a_snippet_shows_the_place_of_the_words() -> None:
    long = page("a", "n", "start " + "filler " * 100 + "the cities of the north " + "filler " * 100)

    shown = snippet_of(long, terms("city"))

    assert "cities of the north" in shown
    assert (shown[0], shown[-1]) == ("…", "…")
    assert len(shown) <= 302
    assert snippet_of(page("a", "n", "# Short\n\ntext"), ["none"]) == "# Short text"
    assert snippet_of(page("a", "n"), ["none"]) == "What of it?"
