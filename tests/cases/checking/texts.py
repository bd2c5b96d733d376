"""Whether texts that were stored or answered hold some words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tests.cases.checking.counts import listed_observations
from tests.cases.checking.outcome import Check, Outcome


def _facts(outcome: Outcome) -> list[str]:
    return [item["text"] for item in outcome.world.memories(outcome.writes)]


def _observations(outcome: Outcome) -> list[str]:
    return [item["text"] for item in listed_observations(outcome)]


def _recalled(outcome: Outcome) -> list[str]:
    assert outcome.play.last("recall").status == 200
    return [result["text"] for result in outcome.found()]


def _answered(outcome: Outcome) -> list[str]:
    answer = outcome.play.last("reflect")
    assert answer.status == 200, answer.text
    return [answer.body["text"]]


def _document(outcome: Outcome) -> list[str]:
    return [outcome.play.last("get_document").body["original_text"]]


TEXTS: Final[Mapping[str, Callable[[Outcome], list[str]]]] = {
    "recall": _recalled,
    "reflect": _answered,
    "answer": _answered,
    "document": _document,
    "observations": _observations,
    "facts": _facts,
}


def holding(where: str, how: str) -> Check:
    """Whether each of some words is in one of the texts (`contains`), or none of them is in any (`lacks`)."""

    def check_texts(outcome: Outcome, wanted: Sequence[str]) -> None:
        texts = TEXTS[where](outcome)
        present = [words for words in wanted if any(words in text for text in texts)]
        missing = [words for words in wanted if words not in present]
        wrong = missing if how == "contains" else present
        assert not wrong, f"{wrong} {'is not' if how == 'contains' else 'is'} in {[text[:200] for text in texts]}"

    return check_texts
