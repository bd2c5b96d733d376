"""THE table of alarms: what is watched, from when on somebody is told, and which runbook says what to do then.

Plain data, made from the topology; alerting.py turns it into CloudFormation. Each metric of an alarm costs 0.10 USD a
month, so `dev` keeps those alone that tell of something lost. Their number does not grow with banks or tenants.
"""

from collections.abc import Iterator
from typing import Final

from hindsight_aws.model.metric import Metric
from infra.cloud.alarm import BOTH, Alarm, Measure, Missing, Names, Sense, Share, of_database, of_lambda, own
from infra.cloud.config import CloudConfig
from infra.cloud.naming import logical
from infra.cloud.own_alarms import OF_MODELS, OF_WORK
from infra.topology import DeploymentTrigger, Function, Queue, Route, ScheduleTrigger, Topology

_GIB: Final = 1024**3
_NEAR: Final = 0.9
_LAST_SECONDS: Final = 10
_BYTES_PER_ACU: Final = 2 * _GIB
_BYTES_PER_CONNECTION: Final = 9_531_392
_MOST_CONNECTIONS: Final = 5000


def alarms(topology: Topology, config: CloudConfig, names: Names) -> list[Alarm]:
    """Every alarm of a deployment with that configuration."""
    every = [
        *(alarm for queue in topology.queues for alarm in _of_queue(queue, names)),
        Alarm(
            "Undelivered",
            "undelivered",
            "A tick of a schedule could not be delivered, or its run failed.",
            _queue_depth(names.undelivered),
            1,
            profiles=BOTH,
        ),
        *(alarm for function in topology.functions for alarm in _of_function(function, names)),
        *_of_schedules(topology, config, names),
        *_of_callers(),
        *(alarm for name, api in names.apis.items() for alarm in _of_api(topology, name, api)),
        *(alarm for workflow in topology.workflows for alarm in _of_workflow(workflow, names)),
        *(_of_database(config, names.cluster) if names.cluster is not None else ()),
        *OF_WORK,
        *OF_MODELS,
    ]
    return [alarm for alarm in every if config.profile in alarm.profiles]


def most_connections(config: CloudConfig) -> int:
    """How many connections Aurora allows at the most capacity, by its own formula for serverless instances."""
    most = 2000 if config.database_min_capacity <= 0.5 else _MOST_CONNECTIONS
    return min(most, int(config.database_max_capacity * _BYTES_PER_ACU // _BYTES_PER_CONNECTION))


def _queue_depth(queue: str) -> Measure:
    return Measure("AWS/SQS", "ApproximateNumberOfMessagesVisible", (("QueueName", queue),), "Maximum")


def _of_queue(queue: Queue, names: Names) -> Iterator[Alarm]:
    name = logical(queue.name)
    age = Measure("AWS/SQS", "ApproximateAgeOfOldestMessage", (("QueueName", names.queues[queue.name]),), "Maximum")
    # One lost attempt hides a message for as long as its visibility; what expires must be told of well before.
    patience = min(queue.visibility, queue.retention // 4)
    yield Alarm(
        f"{name}Backlog",
        "backlog",
        f"Messages wait in the queue {queue.name} for more than {patience} s.",
        age,
        patience,
        periods=3,
    )
    yield Alarm(
        f"{name}DeadLetters",
        "dead-letters",
        f"A message of the queue {queue.name} was given up.",
        _queue_depth(names.dead_letters[queue.name]),
        1,
        profiles=BOTH,
    )


def _of_function(function: Function, names: Names) -> Iterator[Alarm]:
    name, deployed = logical(function.name), names.functions[function.name]
    # Whoever waits for an answer tries again and so does a queue: one error is no pattern there. Else it is.
    errors = 5 if function.is_api or function.max_concurrency > 1 else 1
    yield Alarm(
        f"{name}Errors",
        "function-errors",
        f"The function {function.name} crashes or times out.",
        of_lambda(deployed, "Errors", "Sum"),
        errors,
        periods=2 if errors > 1 else 1,
    )
    yield Alarm(
        f"{name}Throttles",
        "function-throttles",
        f"The function {function.name} is refused invocations.",
        of_lambda(deployed, "Throttles", "Sum"),
        5,
        periods=2,
    )
    is_run_once = any(isinstance(trigger, DeploymentTrigger) for trigger in function.triggers)
    yield Alarm(
        f"{name}Duration",
        "function-duration",
        f"The function {function.name} comes near its time limit of {function.timeout} s.",
        of_lambda(deployed, "Duration", "Maximum"),
        int(_near(function.timeout) * 1000),
        # A run is measured when it ends, so a period must be as long as one.
        minutes=max(5, function.timeout // 60),
        periods=1 if is_run_once else 3,
    )


def _near(limit: int) -> float:
    """From how many seconds on a run is too near its limit: long work stops by itself fifteen seconds before it."""
    return max(_NEAR * limit, limit - _LAST_SECONDS)


def _of_schedules(topology: Topology, config: CloudConfig, names: Names) -> Iterator[Alarm]:
    """A schedule that is silent. In dev nobody waits for work that lost its message: only prod is watched for it."""
    for function, trigger in topology.each(ScheduleTrigger):
        yield Alarm(
            f"{logical(trigger.name)}Silent",
            "schedule-silent",
            f"The schedule {trigger.name} does not tick.",
            of_lambda(names.functions[function.name], "Invocations", "Sum"),
            1,
            trigger.every * config.schedule_stretch // 60,
            3,
            Sense.BELOW,
            Missing.TROUBLE,
        )


def _of_callers() -> Iterator[Alarm]:
    yield Alarm(
        "ServerErrors",
        "server-errors",
        "Callers get errors that are nobody's deliberate answer.",
        own(Metric.SERVER_ERRORS, "Sum"),
        1,
        profiles=BOTH,
    )


def _of_api(topology: Topology, name: str, deployed: str) -> Iterator[Alarm]:
    api = (("ApiId", deployed),)
    failed, all_calls = (Measure("AWS/ApiGateway", metric, api, "Sum") for metric in ("5xx", "Count"))
    yield Alarm(
        f"{name}Errors",
        "api-errors",
        "More than 5 % of the API's answers are 5xx.",
        Share(failed, all_calls, least=20),
        0.05,
        periods=3,
    )
    for _, route in topology.each(Route):
        if route.path.endswith("/memories/recall"):
            at = (*api, ("Stage", "$default"), ("Method", route.method), ("Resource", route.path))
            yield Alarm(
                f"{name}RecallLatency",
                "recall-latency",
                "One recall in a hundred takes more than 3 s.",
                Measure("AWS/ApiGateway", "Latency", at, "p99"),
                3000,
                periods=3,
            )


def _of_workflow(workflow: str, names: Names) -> Iterator[Alarm]:
    name, at = logical(workflow), (("StateMachineArn", names.workflows[workflow]),)
    yield Alarm(
        f"{name}Failed",
        "workflow-failed",
        f"Runs of the workflow {workflow} fail.",
        Measure("AWS/States", "ExecutionsFailed", at, "Sum"),
        3,
        minutes=15,
    )
    yield Alarm(
        f"{name}TimedOut",
        "workflow-timed-out",
        f"Runs of the workflow {workflow} do not end in time.",
        Measure("AWS/States", "ExecutionsTimedOut", at, "Sum"),
        1,
        minutes=15,
    )


def _of_database(config: CloudConfig, cluster: str) -> Iterator[Alarm]:
    yield Alarm(
        "DatabaseCapacity",
        "database-capacity",
        "The database works at the most capacity it may have.",
        of_database(cluster, "ACUUtilization", "Average"),
        90,
        periods=3,
    )
    yield Alarm(
        "DatabaseCpu",
        "database-cpu",
        "The database's processors are busy.",
        of_database(cluster, "CPUUtilization", "Average"),
        90,
        periods=3,
    )
    yield Alarm(
        "DatabaseConnections",
        "database-connections",
        "The database has most of the connections it allows.",
        of_database(cluster, "DatabaseConnections", "Maximum"),
        int(0.8 * most_connections(config)),
        periods=3,
    )
    used = Measure("AWS/RDS", "VolumeBytesUsed", (("DBClusterIdentifier", cluster),), "Maximum")
    yield Alarm(
        "DatabaseStorage",
        "database-storage",
        f"The database holds {config.database_storage_gib} GiB or more.",
        used,
        config.database_storage_gib * _GIB,
        minutes=60,
        missing=Missing.AS_BEFORE,  # Aurora measures it when it likes, with hours between
    )
