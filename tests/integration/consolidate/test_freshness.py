"""What recall tells of how far the scope of an observation is behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.api import Answer, Caller
from tests.support.consolidation import Workshop, creates

BANK = "/v1/default/banks/bank"
ANN, BOB = "user:ann", "user:bob"


@pytest.fixture
def town(workshop: Workshop) -> Workshop:
    """Two scopes with an observation each and nothing to do."""
    for tag in (ANN, BOB):
        (fact,) = workshop.remember(f"The garden of {tag} is green.", tags=[tag])
        workshop.answers(creates((f"The garden of {tag} is green.", [fact])))
        workshop.drain(tag)
    return workshop


def _recalled(answer: Answer) -> dict[str, bool]:
    """Whether each recalled observation is stale, by its one tag."""
    results = answer.json()["results"]
    assert all("stale" not in result for result in results if result["type"] != "observation")
    return {result["tags"][0]: result["stale"] for result in results if result["type"] == "observation"}


def _ask(call: Caller, **more: object) -> Answer:
    return call("POST", f"{BANK}/memories/recall", {"query": "Whose garden is green?", **more})


def _fail_all(workshop: Workshop) -> None:
    workshop.sql("UPDATE consolidation_work SET state = 'failed', failed_at = now() WHERE state = 'pending'")


def test_up_to_date_scopes_are_not_stale(town: Workshop, call: Caller) -> None:
    assert _recalled(_ask(call)) == {ANN: False, BOB: False}


def test_c135_what_waits_in_one_scope_makes_no_other_stale(town: Workshop, call: Caller) -> None:
    town.remember("The garden grew.", "The garden bloomed.", tags=[BOB])

    answer = _ask(call, trace=True)

    assert _recalled(answer) == {ANN: False, BOB: True}
    assert answer.json()["trace"]["freshness"] == {"stale_results": 1, "pending": 2, "failed": 0}


def test_c136_a_scope_whose_facts_failed_is_degraded_and_says_so(town: Workshop, call: Caller) -> None:
    town.remember("The garden grew.", tags=[BOB])
    _fail_all(town)

    answer = _ask(call, trace=True)

    assert _recalled(answer) == {ANN: False, BOB: True}
    assert answer.json()["trace"]["freshness"] == {"stale_results": 1, "pending": 0, "failed": 1}
    stats = call("GET", f"{BANK}/stats").json()
    assert (stats["pending_consolidation"], stats["failed_consolidation"]) == (0, 1)


def test_the_scopes_count_what_waits_and_what_failed_in_each(town: Workshop, call: Caller) -> None:
    town.remember("The garden grew.", tags=[BOB])
    _fail_all(town)
    town.remember("The garden bloomed.", "The garden faded.", tags=[ANN])

    scopes: list[dict[str, Any]] = call("GET", f"{BANK}/observations/scopes").json()["scopes"]

    counted = {scope["tags"][0]: (scope["pending_count"], scope["failed_count"]) for scope in scopes}
    assert counted == {ANN: (2, 0), BOB: (0, 1)}


def test_a_scope_of_several_results_counts_once(town: Workshop, call: Caller) -> None:
    (fact,) = town.remember("The garden of user:ann has a gate.", tags=[ANN])
    town.answers(creates(("The gate of the garden is green.", [fact])))
    town.drain(ANN)
    town.remember("The garden grew.", tags=[ANN])

    answer = _ask(call, trace=True)

    assert answer.json()["trace"]["freshness"] == {"stale_results": 2, "pending": 1, "failed": 0}


def test_a_key_of_one_scope_hears_of_that_scope_alone(town: Workshop, limited: Callable[..., Caller]) -> None:
    town.remember("The garden grew.", tags=[BOB])
    ann = limited(exact_scopes=(frozenset({ANN}),))

    answer = _ask(ann, trace=True)

    assert _recalled(answer) == {ANN: False}
    assert answer.json()["trace"]["freshness"] == {"stale_results": 0, "pending": 0, "failed": 0}
