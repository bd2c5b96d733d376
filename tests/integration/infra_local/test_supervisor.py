"""The supervisor itself may be killed: nothing it started stays, and the next stack finds the data."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest

from infra.local.__main__ import announce
from infra.local.options import REPOSITORY
from infra.local.stack import LocalStack, StackError
from infra.local.state import StackAlreadyRunning
from tests.integration.infra_local.conftest import StackMaker
from tests.integration.infra_local.test_functions import wait_until
from tests.support.fake_system import fake_options


def start_doomed(state: Path) -> "tuple[subprocess.Popen[str], dict[str, list[int]]]":
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.doomed_stack", str(state)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="only this kernel ends children with their parent")
def test_kill_9_of_the_supervisor_takes_every_part_along_and_the_next_start_works(
    folder: Path, make_stack: StackMaker
) -> None:
    doomed, pids = start_doomed(folder / "state")

    doomed.send_signal(signal.SIGKILL)
    doomed.communicate()
    every = [pid for part in pids.values() for pid in part]
    wait_until(lambda: not any(is_running(pid) for pid in every))
    stack = make_stack()

    assert pids["front"]
    assert pids["postgres"]
    with psycopg.connect(stack.superuser_url) as connection:
        assert connection.execute("SELECT count(*) FROM seen").fetchone() == (0,)


def test_a_second_stack_over_the_same_folder_is_refused_by_name(folder: Path) -> None:
    doomed, _ = start_doomed(folder / "state")

    with pytest.raises(StackAlreadyRunning, match=str(doomed.pid)):
        LocalStack(fake_options(folder / "state")).start()

    doomed.kill()
    doomed.communicate()


def test_a_port_that_is_taken_ends_the_start_and_leaves_nothing(
    make_stack: StackMaker, folder: Path, shared_stack: LocalStack
) -> None:
    taken = int(shared_stack.base_url.rsplit(":", 1)[1])

    with pytest.raises(OSError, match=r"[Aa]ddress already in use"):
        make_stack(port=taken)

    assert isinstance(make_stack(), LocalStack)


def test_what_was_left_out_says_so(make_stack: StackMaker) -> None:
    stack = make_stack(faults=False)

    with pytest.raises(StackError, match="without faults"):
        _ = stack.faults
    with pytest.raises(StackError, match="without the Bedrock endpoint"):
        _ = stack.bedrock_url
    stack.stop()
    with pytest.raises(StackError, match="not running"):
        stack.pids()


def test_another_server_can_take_the_place_of_ours(make_stack: StackMaker, folder: Path) -> None:
    ours = make_stack()
    theirs = fake_options(folder / "other")
    server = ours.superuser_url.replace("/hindsight?", "/postgres?")

    changed = replace(theirs, database_url=server)
    with LocalStack(changed) as stack:
        stack.queues.send("work", "elsewhere")
        stack.queues.wait_until_drained("work")

        assert stack.pids()["postgres"] == []
        with pytest.raises(StackError, match="DATABASE_URL"):
            stack.kill_postgres()
    with psycopg.connect(ours.superuser_url) as connection:
        assert connection.execute("SELECT body FROM seen").fetchall() == [("elsewhere",)]


def test_the_console_says_where_everything_is_and_that_the_text_model_is_rule_based(
    make_stack: StackMaker, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = make_stack(bedrock=True)

    announce(stack, 1.0)

    said = capsys.readouterr().out
    for part in (stack.base_url, stack.function_urls["front"], stack.sqs_url, stack.bedrock_url, "rule-based"):
        assert part in said


def test_the_bedrock_endpoint_is_started_again_at_the_same_address(make_stack: StackMaker) -> None:
    stack = make_stack(bedrock=True)
    before = stack.pids()["bedrock"]

    stack.kill_bedrock()

    assert stack.pids()["bedrock"] != before
    assert httpx.get(stack.bedrock_url + "/__stub__/stats").status_code == 200
