"""Execution environments are processes: frozen between events, recycled when idle, replaced when they die."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg
import pytest

from infra.local.functions import Failure, Success
from infra.local.stack import LocalStack
from tests.integration.infra_local.conftest import StackMaker


def wait_until(claim: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


linux_only = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads process states from /proc")


@linux_only
def test_an_environment_is_frozen_between_events(client: httpx.Client) -> None:
    pid = client.get("/who").json()["pid"]

    wait_until(lambda: state_of(pid) == "T")

    assert client.get("/who").json()["pid"] == pid


def test_an_environment_is_reused_and_keeps_its_memory(client: httpx.Client) -> None:
    answers = [client.get("/who").json() for _ in range(8)]

    # Which of the free environments is next is not said; no test has had more of them at work than that.
    counts: dict[int, list[int]] = {}
    for answer in answers:
        counts.setdefault(answer["pid"], []).append(answer["calls"])
    assert len(counts) < len(answers)
    assert all(calls == list(range(calls[0], calls[0] + len(calls))) for calls in counts.values())


def test_the_handler_knows_how_long_it_has(client: httpx.Client) -> None:
    assert 1_000 < client.get("/who").json()["remaining"] <= 30_000


def test_each_function_has_the_database_role_of_the_table(client: httpx.Client) -> None:
    assert client.get("/database").text == "hindsight_read"


def test_a_killed_environment_fails_its_event_and_is_replaced(make_stack: StackMaker) -> None:
    stack = make_stack(prewarm=("front",))
    before = stack.pids()["front"]

    killed = stack.kill_function("front")
    wait_until(lambda: len(stack.pids()["front"]) == 0 or stack.pids()["front"] != before)
    answer = httpx.get(stack.base_url + "/who", timeout=60)

    assert killed == before
    assert answer.json()["pid"] not in before


def test_an_invocation_reports_how_its_process_died(stack: LocalStack) -> None:
    event = b'{"rawPath": "/die"}'

    outcome = stack.invoke("front", event)

    assert isinstance(outcome, Failure)
    assert outcome.summary.startswith("Runtime.ExitError: ")
    assert "SIGKILL" in outcome.summary


def test_an_invocation_that_runs_out_of_time_says_so_as_lambda_does(stack: LocalStack) -> None:
    outcome = stack.invoke("hasty", b"{}")

    assert isinstance(outcome, Failure)
    assert outcome.summary.startswith("Sandbox.Timedout: RequestId: ")
    assert outcome.summary.endswith("Task timed out after 1.00 seconds")


def test_an_init_error_is_told_to_the_caller(stack: LocalStack) -> None:
    outcome = stack.invoke("broken", b"{}")

    assert isinstance(outcome, Failure)
    assert "this module does not load" in outcome.summary


def test_a_function_without_a_folder_is_told_to_the_caller(stack: LocalStack) -> None:
    outcome = stack.invoke("missing", b"{}")

    assert isinstance(outcome, Failure)
    assert outcome.summary.startswith("Runtime.InvalidEntrypoint: ")


def test_idle_environments_are_recycled_down_to_the_warm_one(make_stack: StackMaker) -> None:
    stack = make_stack(idle_seconds=0.2)
    httpx.get(stack.base_url + "/who", timeout=60)
    assert isinstance(stack.invoke("tick", b'{"resources": ["a/b"]}'), Success)

    wait_until(lambda: stack.pids()["tick"] == [])

    assert len(stack.pids()["front"]) == 1


@pytest.mark.parametrize("path", ["/who", "/raise", "/die"])
def test_the_plain_runtime_behaves_like_awslambdaric(make_stack: StackMaker, path: str) -> None:
    status = 200 if path == "/who" else 500
    stack = make_stack(plain_runtime=True)

    answers = [httpx.get(stack.base_url + path, timeout=60).status_code for _ in range(2)]

    assert answers == [status, status]


def test_stopping_leaves_no_process_and_starting_again_finds_the_data(make_stack: StackMaker) -> None:
    first = make_stack(prewarm=("front",))
    with psycopg.connect(first.superuser_url, autocommit=True) as connection:
        connection.execute("INSERT INTO seen VALUES ('kept')")
    pids = [pid for part in first.pids().values() for pid in part]

    first.stop()
    second = make_stack()

    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert os.getpid() not in pids
    with psycopg.connect(second.superuser_url) as connection:
        assert connection.execute("SELECT body FROM seen").fetchall() == [("kept",)]
