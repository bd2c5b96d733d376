"""One stack of fake functions for the tests that only look, and a fresh one for those that break things."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest

from infra.local.options import StackOptions
from infra.local.postgres import LocalPostgres
from infra.local.stack import LocalStack
from tests.support.fake_system import fake_options
from tests.support.state_folder import state_folder

StackMaker = Callable[..., LocalStack]


@pytest.fixture(scope="session")
def shared_stack() -> Iterator[LocalStack]:
    with state_folder() as state, LocalStack(replace(fake_options(state), prewarm=("front",))) as stack:
        yield stack


@pytest.fixture(scope="session")
def pristine_data() -> Iterator[Path]:
    """The data folder of a server that was made and stopped: copying it takes a tenth of making one."""
    with state_folder() as folder:
        server = LocalPostgres(folder / "postgres", durable=False).start()
        server.stop()
        yield server.data


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder that the database server's user may enter."""
    with state_folder() as folder:
        yield folder


@pytest.fixture
def stack(shared_stack: LocalStack) -> LocalStack:
    """The shared stack with empty queues, an empty table and no faults."""
    shared_stack.faults.clear()
    shared_stack.queues.behave("work")
    shared_stack.queues.purge("work")
    shared_stack.queues.purge("work-dead")
    with psycopg.connect(shared_stack.superuser_url, autocommit=True) as connection:
        connection.execute("TRUNCATE seen")
    return shared_stack


@pytest.fixture
def client(stack: LocalStack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=stack.base_url, timeout=60) as client:
        yield client


@pytest.fixture
def make_stack(folder: Path, pristine_data: Path) -> Iterator[StackMaker]:
    """Starts stacks of their own over the test's folder, with changed options; ends them after the test."""
    (folder / "state").mkdir()
    copy_data(pristine_data, folder / "state" / "postgres")
    with ExitStack() as stacks:

        def make(**changes: object) -> LocalStack:
            options: StackOptions = replace(fake_options(folder / "state"), **changes)  # type: ignore[arg-type]  # names are checked by replace
            return stacks.enter_context(LocalStack(options))

        yield make


def copy_data(source: Path, target: Path) -> None:
    """Copies a data folder with its owner, which may be another user than ours."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def seen(stack: LocalStack) -> list[str]:
    """What the fake functions have written, in order of the text."""
    with psycopg.connect(stack.superuser_url) as connection:
        return [row[0] for row in connection.execute("SELECT body FROM seen ORDER BY body")]
