"""One whole local stack for a test session: real HTTP, processes, queues, Postgres and a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.support.bedrock import Bedrock
from tests.support.state_folder import state_folder
from tests.support.world import QUEUES, World

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

_numbers = count(1)
WARM = ("retain", "recall", "admin", "ingest", "consolidate")


@contextmanager
def running_stack(**changed: Any) -> Iterator[LocalStack]:
    """A stack with faults, without schedules, one extraction at a time, so that scripted replies meet their items."""
    from infra.local.options import StackOptions
    from infra.local.stack import LocalStack

    environment = {
        "HINDSIGHT_API_RETAIN_PARALLELISM": "1",
        "HINDSIGHT_API_WEBHOOK_ALLOWED_HOSTS": '["127.0.0.1"]',
        **changed.pop("environment", {}),
    }
    with state_folder() as state:
        options = StackOptions(
            state=state,
            faults=True,
            durable=False,
            schedules={"sweep": 0.0},
            environment=environment,
            **{"prewarm": WARM, "redelivery": 0.2, **changed},
        )
        with LocalStack(options) as stack:
            yield stack


@pytest.fixture(scope="session")
def stack() -> Iterator[LocalStack]:
    """The stack that the tests of a session share; whoever strikes at it leaves it whole."""
    with running_stack() as running:
        yield running


@contextmanager
def world_of(stack: LocalStack) -> Iterator[World]:
    """A test's own world on a stack, with no script and no fault before and after."""
    model = Bedrock(stack.bedrock_url)
    rows = psycopg.connect(stack.superuser_url, autocommit=True, row_factory=dict_row)
    rows.execute("SET search_path = hindsight, public")
    with httpx.Client(base_url=stack.base_url, timeout=60) as client:
        world = World(stack, model, client, rows, f"world{next(_numbers)}")
        model.clear()
        try:
            yield world
        finally:
            world.rows.close()
            stack.faults.clear()
            model.clear()
            for queue in QUEUES:
                stack.queues.behave(queue)
                stack.queues.purge(queue)


@pytest.fixture
def world(stack: LocalStack) -> Iterator[World]:
    """A world on the shared stack."""
    with world_of(stack) as made:
        yield made


@pytest.fixture
def bedrock(stack: LocalStack) -> Iterator[Bedrock]:
    """The shared stack's model, with no script and no fault before and after."""
    controls = Bedrock(stack.bedrock_url)
    controls.clear()
    yield controls
    controls.clear()
