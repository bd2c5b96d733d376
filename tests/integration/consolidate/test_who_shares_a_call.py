"""Which facts one call shows, in which order, and what may go on at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import pytest

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop
from tests.support.models import ScriptedModel, block


@pytest.fixture
def twin_of(workshop: Workshop) -> Iterator[Callable[[], Workshop]]:
    """Makes workshops on the same bank with connections of their own: other workers."""
    opened: list[PostgresStore] = []

    def make() -> Workshop:
        twin = copy(workshop)
        twin.store = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
        opened.append(twin.store)
        return twin

    yield make
    for store in opened:
        store.close()


def _shown(workshop: Workshop) -> list[list[str]]:
    """The texts of the facts that each call showed, in order of their texts."""
    calls: list[Any] = [block(call, "facts") for call in workshop.model.asked("consolidate")]
    return [sorted(fact["text"] for fact in facts) for facts in calls]


def _skips(call: ModelCall) -> JsonObject:
    facts: Any = block(call, "facts")
    return {"skipped": [{"fact_id": fact["id"], "reason": "test"} for fact in facts]}


def test_c019_facts_of_different_scopes_never_share_a_call(workshop: Workshop) -> None:
    workshop.remember("Of both together.", tags=["a", "b"])
    workshop.remember("Of each alone.", tags=["a", "b"], scopes=[["a"], ["b"]])
    workshop.answers(_skips)

    for tags in (["a"], ["b"], ["a", "b"]):
        workshop.drain(*tags)

    assert _shown(workshop) == [["Of each alone."], ["Of each alone."], ["Of both together."]]


@pytest.mark.parametrize(
    ("first", "second", "scope"),
    [
        pytest.param(["a"], ["b"], [], id="C020-shared-facts-with-different-tags"),
        pytest.param(["u", "s1"], ["u"], ["u"], id="C021-one-scope-asked-for-in-two-ways"),
    ],
)
def test_facts_of_one_scope_share_a_call_whatever_their_tags(
    workshop: Workshop, first: list[str], second: list[str], scope: list[str]
) -> None:
    workshop.remember("One.", tags=first, scopes=[scope])
    workshop.remember("Two.", tags=second, scopes=[scope])
    workshop.answers(_skips)

    workshop.drain(*scope)

    assert _shown(workshop) == [["One.", "Two."]]


def test_c022_facts_with_unrelated_tags_and_no_scopes_asked_for_never_share_a_call(workshop: Workshop) -> None:
    workshop.remember("One.", tags=["a"])
    workshop.remember("Two.", tags=["b"])
    workshop.answers(_skips)

    workshop.drain("a")
    workshop.drain("b")

    assert _shown(workshop) == [["One."], ["Two."]]


def test_c024_one_scope_is_never_worked_on_twice_at_once(workshop: Workshop, twin_of: Callable[[], Workshop]) -> None:
    workshop.remember(*[f"Fact {number}." for number in range(20)])
    guard, going, most = threading.Lock(), [0], [0]

    def answer(call: ModelCall) -> JsonObject:
        with guard:
            going[0] += 1
            most[0] = max(most[0], going[0])
        try:
            return _skips(call)
        finally:
            with guard:
                going[0] -= 1

    workshop.model = ScriptedModel(answer)
    twins = [twin_of() for _ in range(4)]

    with ThreadPoolExecutor(4) as workers:
        ended = list(workers.map(lambda twin: twin.drain(), twins))

    assert most == [1]
    assert ended.count(Drained.DONE) >= 1
    assert len(workshop.model.calls) == 3
    assert all(rows == [("done", "not_durable")] for rows in workshop.work().values())


def test_c025_disjoint_scopes_are_worked_on_at_the_same_time(
    workshop: Workshop, twin_of: Callable[[], Workshop]
) -> None:
    workshop.remember("One.", tags=["a"])
    workshop.remember("Two.", tags=["b"])
    both_ask = threading.Barrier(2, timeout=60)

    def answer(call: ModelCall) -> JsonObject:
        both_ask.wait()
        return _skips(call)

    workshop.model = ScriptedModel(answer)
    twins = {"a": twin_of(), "b": twin_of()}

    with ThreadPoolExecutor(2) as workers:
        ended = list(workers.map(lambda tag: twins[tag].drain(tag), twins))

    assert ended == [Drained.DONE, Drained.DONE]


def test_c026_a_scope_in_which_many_facts_wait_keeps_no_other_waiting(
    workshop: Workshop, twin_of: Callable[[], Workshop]
) -> None:
    workshop.remember(*[f"Fact {number} of many." for number in range(50)], tags=["many"])
    few = workshop.remember("One of few.", "Two of few.", tags=["few"])
    twin = twin_of()
    ended: list[Drained] = []

    def answer(call: ModelCall) -> JsonObject:
        if not ended:
            twin.model = ScriptedModel(_skips)
            ended.append(twin.drain("few"))
        return _skips(call)

    workshop.answers(answer)

    workshop.drain("many")

    assert ended == [Drained.DONE]
    assert [workshop.work()[fact] for fact in few] == [[("done", "not_durable")]] * 2
    assert _shown(twin) == [["One of few.", "Two of few."]]


def test_c027_the_facts_of_a_scope_are_asked_about_oldest_first(workshop: Workshop) -> None:
    facts = workshop.remember(*[f"Fact {number}." for number in range(20)])
    for age, fact in enumerate(facts):
        workshop.sql("UPDATE memory_units SET created_at = now() - make_interval(mins => %s) WHERE id = %s", age, fact)
    workshop.answers(_skips)

    workshop.drain()

    calls: list[Any] = [block(call, "facts") for call in workshop.model.asked("consolidate")]
    told = [fact["text"] for facts in calls for fact in facts]
    assert told == [f"Fact {number}." for number in reversed(range(20))]


def test_c028_a_scope_that_fails_stops_no_other_and_says_why(workshop: Workshop) -> None:
    (failing,) = workshop.remember("One.", tags=["a"])
    (sound,) = workshop.remember("Two.", tags=["b"])

    def cut(call: ModelCall) -> JsonObject:
        raise DatabaseUnavailable("the wire was cut")

    workshop.answers(cut)
    with pytest.raises(DatabaseUnavailable, match="the wire was cut"):
        workshop.drain("a")
    workshop.answers(_skips)

    workshop.drain("b")

    assert workshop.work()[sound] == [("done", "not_durable")]
    assert workshop.work()[failing] == [("pending", None)]
