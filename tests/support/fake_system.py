"""A made-up topology with fake handlers, so that the local stack can be tested without the product."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psycopg

from infra.local.bootstrap import BootstrapTarget
from infra.local.options import REPOSITORY, StackOptions
from infra.topology import (
    Bucket,
    DatabaseRole,
    Function,
    HttpLimits,
    Queue,
    QueueTrigger,
    Route,
    ScheduleTrigger,
    Topology,
)

ROOT: Final = Path(__file__).with_name("local_stack")

FAKE_TOPOLOGY: Final = Topology(
    queues=(Queue("work", visibility=180, max_receive_count=2),),
    bucket=Bucket("files", keep_days=1),
    functions=(
        Function(
            name="front",
            triggers=(Route("ANY", "$default"),),
            timeout=30,
            memory=128,
            max_concurrency=3,
            database_role=DatabaseRole.READ,
            sends_to=("work",),
            function_url=True,
        ),
        Function(
            name="broken",
            triggers=(Route("GET", "/broken/{proxy+}"),),
            timeout=30,
            memory=128,
            max_concurrency=2,
            database_role=DatabaseRole.READ,
        ),
        Function(
            name="missing",
            triggers=(Route("GET", "/missing"),),
            timeout=30,
            memory=128,
            max_concurrency=1,
            database_role=DatabaseRole.READ,
        ),
        Function(
            name="hasty",
            triggers=(),
            timeout=1,
            memory=128,
            max_concurrency=1,
            database_role=DatabaseRole.READ,
            function_url=True,
        ),
        Function(
            name="worker",
            triggers=(QueueTrigger("work", batch_size=4, max_concurrency=2),),
            timeout=30,
            memory=128,
            max_concurrency=2,
            database_role=DatabaseRole.WRITE,
        ),
        Function(
            name="tick",
            triggers=(ScheduleTrigger("tick", every=300),),
            timeout=30,
            memory=128,
            max_concurrency=1,
            database_role=DatabaseRole.WRITE,
        ),
    ),
    http=HttpLimits(seconds=60),
)


@dataclass(frozen=True, slots=True)
class FakeBootstrap:
    """Makes the roles and one table that the fake functions use."""

    def __call__(self, target: BootstrapTarget) -> None:
        with psycopg.connect(target.superuser_url, autocommit=True) as connection:
            for role in DatabaseRole:
                known = "SELECT 1 FROM pg_roles WHERE rolname = %s"
                if connection.execute(known, (role.database_user,)).fetchone() is None:
                    connection.execute(f"CREATE ROLE {role.database_user} LOGIN".encode())
            connection.execute("CREATE TABLE IF NOT EXISTS seen (body text NOT NULL)")
            connection.execute("GRANT SELECT, INSERT ON seen TO hindsight_write")
            connection.execute("GRANT SELECT ON seen TO hindsight_read")


def fake_options(state: Path) -> StackOptions:
    """Options for a stack of fakes: quick to start, fast to redeliver, faults on."""
    options = StackOptions(
        state=state,
        repository=ROOT,
        topology=FAKE_TOPOLOGY,
        bootstrap=FakeBootstrap(),
        durable=False,
        bedrock=False,
        faults=True,
        redelivery=0.05,
        environment={"PYTHONPATH": str(REPOSITORY / "shared")},
        schedules={"tick": 0},
    )
    return replace(options)
