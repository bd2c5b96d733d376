"""What the topology is written in: functions, queues, routes, triggers, the bucket, and the rules between them.

Used by topology.py, which re-exports these. Durations are seconds, memory is MB, sizes are bytes.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

MIB: Final = 1024 * 1024

VISIBILITY_PER_TIMEOUT: Final = 6
"""A queue hides a message at least this many times its consumer's timeout (AWS's advice for event source mappings)."""

DEFAULT_ROUTE: Final = "$default"


class TopologyError(ValueError):
    """The table contradicts itself; the message names the entry."""


class DatabaseRole(StrEnum):
    """Which Postgres role a function connects as; the value is the class, `database_user` the role itself."""

    READ = "read"
    WRITE = "write"
    MIGRATE = "migrate"

    @property
    def database_user(self) -> str:
        """The Postgres role behind this class."""
        return "hindsight_owner" if self is DatabaseRole.MIGRATE else f"hindsight_{self.value}"


class ModelUse(StrEnum):
    """What a function may ask a model for; each becomes a permission on exactly those models."""

    TEXT = "text"
    EMBEDDINGS = "embeddings"
    RERANK = "rerank"


class FileUse(StrEnum):
    """What a function may do with the files in the bucket; each becomes a permission on the objects and no more."""

    PUT = "put"
    GET = "get"
    DELETE = "delete"
    KEEP = "keep"
    FORGET = "forget"
    """To put, and to delete, where objects do not expire."""


@dataclass(frozen=True, slots=True)
class Route:
    """One HTTP API route. `path` uses API Gateway's syntax: `{name}` one segment, `{name+}` the rest, or `$default`."""

    method: str
    path: str


@dataclass(frozen=True, slots=True)
class QueueTrigger:
    """An event source mapping: batches of `queue` invoke the function, which reports failures per message."""

    queue: str
    batch_size: int = 10
    window: float = 0.0
    max_concurrency: int = 2


@dataclass(frozen=True, slots=True)
class ScheduleTrigger:
    """The function is invoked once per `every` seconds, at least once per tick."""

    name: str
    every: int


@dataclass(frozen=True, slots=True)
class DeploymentTrigger:
    """The function is invoked as a CloudFormation custom resource, before the others receive traffic."""


@dataclass(frozen=True, slots=True)
class WorkflowTrigger:
    """The function is a task of the named Step Functions workflow."""

    workflow: str


Trigger = Route | QueueTrigger | ScheduleTrigger | DeploymentTrigger | WorkflowTrigger
AnyTrigger = TypeVar("AnyTrigger", Route, QueueTrigger, ScheduleTrigger, DeploymentTrigger, WorkflowTrigger)


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS standard queue with a dead-letter queue of its own."""

    name: str
    visibility: int
    max_receive_count: int = 5
    retention: int = 4 * 24 * 3600
    dead_letter_retention: int = 14 * 24 * 3600

    @property
    def dead_letter_name(self) -> str:
        """The queue that receives what no worker could finish."""
        return f"{self.name}-dead"

    @property
    def url_setting(self) -> str:
        """Environment variable under which a sender finds the queue's URL."""
        return f"HINDSIGHT_QUEUE_{self.name.upper().replace('-', '_')}_URL"


@dataclass(frozen=True, slots=True)
class Bucket:
    """The S3 bucket of uploaded files.

    What is under `passing` expires after `keep_days`; what is under `lasting` stays until a function deletes it.
    """

    name: str
    keep_days: int
    passing: str = "tenants/"
    lasting: str = "kept/"

    @property
    def setting(self) -> str:
        """Environment variable under which a function finds the bucket's name."""
        return "HINDSIGHT_BUCKET"


@dataclass(frozen=True, slots=True)
class Function:
    """One Lambda function: a door in `functions/<name>` and everything it needs and may do.

    `disk`: MB that an event may write to /tmp.
    `signs`: it may have the receipt key sign.
    `internet`: it is outside the private network, and so can reach neither the database nor what else is in there.
    """

    name: str
    triggers: tuple[Trigger, ...]
    timeout: int
    memory: int
    max_concurrency: int
    database_role: DatabaseRole | None
    models: tuple[ModelUse, ...] = ()
    sends_to: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    files: tuple[FileUse, ...] = ()
    signs: bool = False
    disk: int = 512
    function_url: bool = False
    internet: bool = False
    handler: str = "handler.handler"
    layers: tuple[str, ...] = ("dependencies", "product")
    settings: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = field(default=())

    @property
    def directory(self) -> str:
        """The task root, relative to the repository."""
        return f"functions/{self.name}"

    @property
    def routes(self) -> tuple[Route, ...]:
        """The HTTP routes that lead here."""
        return tuple(trigger for trigger in self.triggers if isinstance(trigger, Route))

    @property
    def marks_work(self) -> bool:
        """Whether it may commit work that nobody would look for in a database that pauses: it marks that it may."""
        return self.database_role in (DatabaseRole.WRITE, DatabaseRole.MIGRATE) and not self.reads_marks

    @property
    def reads_marks(self) -> bool:
        """Whether it comes by itself, and leaves a database that pauses alone unless a mark speaks for work."""
        return any(isinstance(trigger, ScheduleTrigger) for trigger in self.triggers)

    @property
    def is_api(self) -> bool:
        """Whether a person is waiting for the answer."""
        return bool(self.routes)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What the HTTP path carries: Lambda's payload limits and the HTTP API's patience."""

    event_bytes: int = 6 * MIB
    answer_bytes: int = 6 * MIB
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Topology:
    """The whole system. Construction checks that the entries fit together.

    Raises: TopologyError, on a duplicate name, an unknown queue, a route with two owners, or too short a visibility.
    """

    functions: tuple[Function, ...]
    queues: tuple[Queue, ...] = ()
    bucket: Bucket | None = None
    http: HttpLimits = HttpLimits()

    def __post_init__(self) -> None:
        _refuse_duplicates("function", [function.name for function in self.functions])
        _refuse_duplicates("queue", [name for queue in self.queues for name in (queue.name, queue.dead_letter_name)])
        _refuse_duplicates("route", [f"{route.method} {route.path}" for _, route in self.each(Route)])
        _refuse_duplicates("consumer of queue", [trigger.queue for _, trigger in self.each(QueueTrigger)])
        _refuse_duplicates("schedule", [trigger.name for _, trigger in self.each(ScheduleTrigger)])
        for function in self.functions:
            for name in function.sends_to:
                self.queue(name)
            for name in function.starts:
                if name not in self.workflows:
                    raise TopologyError(f"the topology has no workflow named {name!r}")
            if function.files and self.bucket is None:
                raise TopologyError(f"the topology has no bucket for the files of {function.name!r}")
            if function.internet == (function.database_role is not None):
                raise TopologyError(f"{function.name!r} must have either a database role or the internet")
        for function, trigger in self.each(QueueTrigger):
            least = VISIBILITY_PER_TIMEOUT * function.timeout
            if self.queue(trigger.queue).visibility < least:
                raise TopologyError(f"queue {trigger.queue!r} must hide messages for {least} s or more")

    def function(self, name: str) -> Function:
        """The function of that name. Raises: TopologyError, when there is none."""
        return _named(self.functions, name, "function")

    def queue(self, name: str) -> Queue:
        """The queue of that name. Raises: TopologyError, when there is none."""
        return _named(self.queues, name, "queue")

    @property
    def workflows(self) -> tuple[str, ...]:
        """The names of the Step Functions workflows, each defined in `infra/workflows/<name>.asl.json`."""
        return tuple(dict.fromkeys(trigger.workflow for _, trigger in self.each(WorkflowTrigger)))

    def each(self, kind: type[AnyTrigger]) -> Iterator[tuple[Function, AnyTrigger]]:
        """Every trigger of one kind, with the function it belongs to."""
        for function in self.functions:
            for trigger in function.triggers:
                if isinstance(trigger, kind):
                    yield function, trigger


MARKS_SET_SETTING: Final = "HINDSIGHT_MARKS_SET_IN"
"""Environment variable under which a function that marks work finds the bucket, where the database pauses."""
MARKS_READ_SETTING: Final = "HINDSIGHT_MARKS_READ_IN"
"""Environment variable under which a function that reads those marks finds it."""

RECEIPT_KEY_SETTING: Final = "HINDSIGHT_RECEIPT_KEY"
"""Environment variable under which a function that signs finds its key."""


def workflow_setting(workflow: str) -> str:
    """Environment variable under which a function that starts a workflow finds its ARN."""
    return f"HINDSIGHT_WORKFLOW_{workflow.upper().replace('-', '_')}_ARN"


AnyNamed = TypeVar("AnyNamed", Function, Queue)


def _named(entries: tuple[AnyNamed, ...], name: str, what: str) -> AnyNamed:
    for entry in entries:
        if entry.name == name:
            return entry
    raise TopologyError(f"the topology has no {what} named {name!r}")


def _refuse_duplicates(what: str, names: list[str]) -> None:
    doubled = sorted(name for name, times in Counter(names).items() if times > 1)
    if doubled:
        raise TopologyError(f"{what} named twice: {', '.join(doubled)}")
