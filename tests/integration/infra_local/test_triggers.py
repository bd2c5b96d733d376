"""Queues and schedules reach their functions, through crashes, doubles and losses."""

import json
from dataclasses import replace

import psycopg
import pytest

from infra.local.functions import Success
from infra.local.stack import LocalStack
from infra.topology import Queue
from tests.integration.infra_local.conftest import StackMaker, seen
from tests.integration.infra_local.test_functions import wait_until
from tests.support.fake_system import FAKE_TOPOLOGY


def test_messages_reach_the_worker_and_are_settled(stack: LocalStack) -> None:
    for n in range(9):
        stack.queues.send("work", f"m{n}", group=f"t{n % 2}")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == [f"m{n}" for n in range(9)]
    assert stack.queues.counts("work").dead == 0


def test_a_failed_message_comes_back_alone_and_poison_becomes_a_dead_letter(stack: LocalStack) -> None:
    for body in ("good", "fail once", "poison"):
        stack.queues.send("work", body)
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["fail once", "good"]
    assert stack.queues.counts("work").dead == 1


def test_a_handler_that_raises_gets_its_batch_again(stack: LocalStack) -> None:
    stack.queues.send("work", "raise once")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["raise once"]


def test_a_worker_killed_before_its_commit_leaves_nothing_and_the_message_comes_back(stack: LocalStack) -> None:
    stack.faults.kill_at("worker.before_commit", function="worker")

    stack.queues.send("work", "a")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["a"]
    assert [hit.action for hit in stack.faults.hits("worker.before_commit")] == ["kill", "continue"]


def test_a_worker_killed_after_its_commit_does_the_work_twice_for_nothing_prevents_it(stack: LocalStack) -> None:
    stack.faults.kill_at("worker.after_commit")

    stack.queues.send("work", "a")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["a", "a"]


def test_an_error_raised_at_a_point_fails_the_batch(stack: LocalStack) -> None:
    stack.faults.raise_at("worker.*")

    stack.queues.send("work", "a")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["a"]
    assert len(stack.faults.hits()) == 3


def test_a_paused_worker_waits_until_it_is_released(stack: LocalStack) -> None:
    stack.faults.pause_at("worker.before_commit")
    stack.queues.send("work", "a")

    stack.faults.wait_for("worker.before_commit")
    before = seen(stack)
    stack.faults.release()
    stack.queues.wait_until_drained("work")

    assert before == []
    assert seen(stack) == ["a"]


def test_a_paused_worker_can_be_killed(stack: LocalStack) -> None:
    stack.faults.pause_at("worker.before_commit")
    stack.queues.send("work", "a")
    stack.faults.wait_for("worker.before_commit")

    killed = stack.kill_function("worker", busy_only=True)
    stack.queues.wait_until_drained("work")

    assert len(killed) == 1
    assert seen(stack) == ["a"]


def test_a_wire_cut_before_the_commit_loses_it(stack: LocalStack) -> None:
    stack.faults.cut_at("worker.before_commit")

    stack.queues.send("work", "a")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["a"]
    assert len(stack.faults.hits("worker.before_commit")) == 2


@pytest.mark.parametrize(("after", "rows"), [(False, ["a"]), (True, ["a", "a"])])
def test_a_wire_cut_at_the_commit_leaves_it_done_or_undone_but_always_unheard(
    stack: LocalStack, after: bool, rows: list[str]
) -> None:
    stack.faults.cut_wire_at_commit(after=after)

    stack.queues.send("work", "a")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == rows


def test_held_bytes_hold_the_worker(stack: LocalStack) -> None:
    stack.faults.pause_wire()
    stack.queues.send("work", "a")
    wait_until(lambda: stack.queues.counts("work").in_flight == 1)

    held = seen(stack)
    stack.faults.release_wire()
    stack.queues.wait_until_drained("work")

    assert held == []
    assert seen(stack) == ["a"]


def test_lost_and_doubled_messages_do_as_told(stack: LocalStack) -> None:
    stack.queues.lose("work")
    stack.queues.send("work", "lost")
    stack.queues.double("work")
    stack.queues.send("work", "twice")
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["twice", "twice"]


def test_a_schedule_can_be_run_at_will(stack: LocalStack) -> None:
    outcome = stack.run_schedule("tick")

    assert isinstance(outcome, Success)
    assert json.loads(outcome.payload) is None
    assert seen(stack) == ["tick"]


def test_a_schedule_ticks_at_once_and_again(make_stack: StackMaker) -> None:
    stack = make_stack(schedules={"tick": 0.2})

    wait_until(lambda: len(seen(stack)) >= 2)

    assert set(seen(stack)) == {"tick"}


def test_a_killed_database_comes_back_with_what_it_acknowledged(make_stack: StackMaker) -> None:
    stack = make_stack()
    with psycopg.connect(stack.superuser_url, autocommit=True) as connection:
        connection.execute("INSERT INTO seen VALUES ('acknowledged')")
        before = stack.pids()["postgres"]
        stack.kill_postgres()

    stack.queues.send("work", "later")
    stack.queues.wait_until_drained("work")

    assert stack.pids()["postgres"] != before
    assert seen(stack) == ["acknowledged", "later"]


def test_a_database_left_down_fails_the_work_until_it_is_started(make_stack: StackMaker) -> None:
    patient = replace(FAKE_TOPOLOGY, queues=(Queue("work", visibility=180, max_receive_count=1_000),))
    stack = make_stack(redelivery=0.3, topology=patient)
    stack.kill_postgres(restart=False)

    stack.queues.send("work", "a")
    wait_until(lambda: stack.queues.counts("work").delayed + stack.queues.counts("work").in_flight > 0)
    stack.restart_postgres()
    stack.queues.wait_until_drained("work")

    assert seen(stack) == ["a"]
