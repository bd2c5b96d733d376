"""What the API answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.cases.checking.outcome import Check, Outcome, includes, named


@named("status")
def _status(outcome: Outcome, wanted: Any) -> None:
    statuses = [answer.status for answer in outcome.play.answers]
    expected = wanted if isinstance(wanted, list) else [wanted] * len(statuses)
    assert statuses == expected, f"{statuses} is not {expected}"


@named("status_below")
def _status_below(outcome: Outcome, wanted: Any) -> None:
    high = [(answer.do, answer.status) for answer in outcome.play.answers if answer.status >= wanted]
    assert not high, f"{high}"


@named("temporal_window")
def _temporal_window(outcome: Outcome, wanted: Sequence[Any]) -> None:
    traced = [
        answer.body["trace"]["query"]
        for answer in outcome.play.answers
        if answer.do == "recall" and answer.status == 200
    ]
    assert [query["temporal_constraint"] for query in traced] == list(wanted)


@named("stats")
def _stats(outcome: Outcome, wanted: Mapping[str, Any]) -> None:
    includes(outcome.world.get(outcome.writes, "/stats"), wanted)


@named("config")
def _config(outcome: Outcome, wanted: Mapping[str, Any]) -> None:
    includes(outcome.world.get(outcome.bank, "/config")["config"], wanted)


def config_field(name: str) -> Check:
    """Whether one resolved setting has a value."""

    def check_field(outcome: Outcome, wanted: Any) -> None:
        includes(outcome.world.get(outcome.bank, "/config")["config"], {name: wanted})

    return check_field


@named("body_equals_input")
def _body_equals_input(outcome: Outcome, wanted: bool) -> None:
    (content,) = outcome.play.contents[outcome.writes]
    stored = outcome.play.last("get_document").body["original_text"]
    assert (stored == content) is wanted, f"the document holds {len(stored)} characters, the item {len(content)}"
