"""Retain on the whole local stack, struck in the middle: by SIGKILL of the function or of Postgres, and on the wire."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from hindsight_aws.retain import points
from infra.local.faults import Action
from tests.conftest import chosen_dose
from tests.support.invariants import broken
from tests.support.world import Answer, World

pytestmark = pytest.mark.timeout(150)
ALL = (
    points.AFTER_SUBMIT,
    points.AFTER_LEASE,
    points.AFTER_EXTRACT,
    points.AFTER_EMBED,
    points.BEFORE_COMMIT,
    points.AFTER_COMMIT,
    points.BEFORE_WAKEUP,
)
FEW = (points.AFTER_EXTRACT, points.BEFORE_COMMIT, points.AFTER_COMMIT)
SMALL = chosen_dose() == "small"
LINES = ("Bea moved to Rome.", "Bea speaks Thai.", "Bea keeps bees.")


def retain(world: World, *, is_async: bool) -> Answer:
    """One item of three lines, each of which becomes a fact."""
    item = {"content": "\n".join(LINES), "document_id": "letter"}
    return world.send("retain", "b", "POST", "/memories", {"items": [item], "async": is_async})


def facts(world: World) -> list[str]:
    """The stored facts."""
    return sorted(memory["text"] for memory in world.memories("b"))


def held_at(world: World, point: str, strike: Callable[[], object], *, is_async: bool) -> Answer:
    """Retains, and strikes while the worker stands at the point; the answer to the retain."""
    faults = world.stack.faults
    faults.pause_at(point)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(retain, world, is_async=is_async)
        faults.wait_for(point, timeout=60)
        strike()
        faults.release()
        return waiting.result()


def assert_whole(world: World, answer: Answer) -> None:
    """The operation ended well and its facts are there once, after the queues and then the sweep had their turn."""
    world.settle("ingest")
    world.let_time_pass()
    assert facts(world) == sorted(LINES), answer.text
    assert broken(world.rows, world.bank_ids(["b"])) == []
    statuses = world.sql("SELECT kind, status FROM operations WHERE bank_id = ANY(%s)", world.bank_ids(["b"]))
    assert {row["status"] for row in statuses if row["kind"] != "consolidation"} == {"completed"}
    documents = world.get("b", "/documents")
    assert documents["total"] == 1
    assert_paid_once(world)


def assert_paid_once(world: World) -> None:
    """What the model was asked is in the ledger once, and each operation says what its calls cost."""
    banks = world.bank_ids(["b"])
    lines = world.sql(
        "SELECT operation_id, sum(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens) AS tokens, "
        "count(*) AS n FROM usage_ledger WHERE bank_id = ANY(%s) AND task = 'extract_facts' GROUP BY 1",
        banks,
    )
    told = world.sql(
        "SELECT operation_id, (result #>> '{usage,total_tokens}')::bigint AS tokens FROM operations "
        "WHERE bank_id = ANY(%s) AND kind = 'retain'",
        banks,
    )
    assert {row["operation_id"]: row["tokens"] for row in told} == {row["operation_id"]: row["tokens"] for row in lines}
    assert [row["n"] for row in lines] == [len(world.calls("extract_facts"))]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("point", FEW if SMALL else ALL)
def test_a_killed_retain_completes_and_nothing_is_doubled(world: World, point: str, is_async: bool) -> None:
    world.model.script({"extract": "ONE_FACT_PER_LINE"})
    function = "ingest" if is_async and point != points.AFTER_SUBMIT else "retain"
    world.stack.faults.kill_at(point, function=function)

    answer = retain(world, is_async=is_async)

    assert_whole(world, answer)
    assert [hit.action for hit in world.stack.faults.hits(point)].count(Action.KILL) == 1


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("point", FEW[1:2] if SMALL else ALL[1:])
def test_a_retain_survives_the_death_of_the_database(world: World, point: str, is_async: bool) -> None:
    world.model.script({"extract": "ONE_FACT_PER_LINE"})

    answer = held_at(world, point, world.stack.kill_postgres, is_async=is_async)

    world.reconnect()
    assert_whole(world, answer)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_r108_a_caller_who_was_cut_off_sends_again_under_the_same_id_and_nothing_is_doubled(
    world: World, is_async: bool
) -> None:
    world.model.script({"extract": "ONE_FACT_PER_LINE"})
    world.stack.faults.kill_at(points.AFTER_SUBMIT, function="retain")
    body = {"items": [{"content": "\n".join(LINES), "document_id": "letter"}], "async": is_async}
    mine = str(uuid4())

    # A sync caller waits out its whole time for a dead worker's lease, so it is made to do so once only.
    times = 3 if is_async else 2
    answers = [world.send("retain", "b", "POST", "/memories", body | {"operation_id": mine}) for _ in range(times)]

    assert answers[0].status >= 500
    assert {answer.status for answer in answers[1:]} == {200}
    assert_whole(world, answers[1])
    last = world.send("retain", "b", "POST", "/memories", body | {"operation_id": mine})
    assert last.body["watermark"] == answers[1].body["watermark"]
    assert_paid_once(world)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_wire_cut_at_the_commit_neither_loses_nor_doubles(world: World, after: bool, is_async: bool) -> None:
    world.model.script({"extract": "ONE_FACT_PER_LINE"})

    answer = held_at(
        world,
        points.BEFORE_COMMIT,
        lambda: world.stack.faults.cut_wire_at_commit(after=after),
        is_async=is_async,
    )

    assert answer.status == 200, answer.text
    assert_whole(world, answer)
