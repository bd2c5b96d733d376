"""One page on which an operator sees how the system is: trouble first, then work, people, models, database.

Made by the service stack, from the same names as the alarms. Kinds of work are found by search, so a new one appears by
itself; tenants and banks never do, which keeps the page and its metrics as few as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as watch
from constructs import Construct

from hindsight_aws.model.metric import KIND, NAMESPACE, SERVICE, SERVICE_NAME, Metric
from infra.cloud.alarm import Measure, Names, of_database, of_lambda, own

_PERIOD: Final = Duration.minutes(5)
_ROW: Final = 24


class Dashboard(Construct):
    """The page; CloudFormation names it."""

    def __init__(self, scope: Construct, name: str, *, names: Names, alarms: Sequence[str]) -> None:
        super().__init__(scope, name)
        page = watch.Dashboard(self, "Page", default_interval=Duration.hours(12))
        states = [watch.Alarm.from_alarm_arn(self, f"Alarm{number}", arn) for number, arn in enumerate(alarms)]
        page.add_widgets(watch.AlarmStatusWidget(title="Alarms", alarms=states, width=_ROW, height=5))
        page.add_widgets(*_work(names))
        page.add_widgets(*_queues(names))
        page.add_widgets(*_callers(names))
        page.add_widgets(*_functions(names))
        page.add_widgets(*_models())
        if names.cluster is not None:
            page.add_widgets(*_database(names.cluster))


def _work(names: Names) -> list[watch.IWidget]:
    failed = {
        workflow: Measure("AWS/States", "ExecutionsFailed", (("StateMachineArn", arn),), "Sum")
        for workflow, arn in names.workflows.items()
    }
    return [
        _by_kind("Due work, rows by kind", Metric.DUE_WORK),
        _by_kind("Oldest due work, seconds by kind", Metric.OLDEST_DUE_WORK),
        _by_kind("Failed work, rows by kind", Metric.FAILED_WORK),
        _graph(
            "Waiting to be believed, and who waits",
            {
                "oldest pending fact, s": own(Metric.OLDEST_PENDING_FACT, "Maximum"),
                "parked tenants": own(Metric.PARKED_TENANTS, "Maximum"),
                **{f"failed runs of {workflow}": measure for workflow, measure in failed.items()},
            },
        ),
    ]


def _queues(names: Names) -> list[watch.IWidget]:
    return [
        _graph("Age of the oldest message, seconds", _of_queues(names.queues, "ApproximateAgeOfOldestMessage")),
        _graph("Messages that wait", _of_queues(names.queues, "ApproximateNumberOfMessagesVisible")),
        _graph("Dead letters", _of_queues(names.dead_letters, "ApproximateNumberOfMessagesVisible")),
    ]


def _callers(names: Names) -> list[watch.IWidget]:
    return [
        *(widget for name, api in names.apis.items() for widget in _api(name, (("ApiId", api),))),
        _graph(
            "Errors",
            {
                "server errors": own(Metric.SERVER_ERRORS, "Sum"),
                "no database": own(Metric.DATABASE_UNAVAILABLE, "Sum"),
                "wrong defaults": own(Metric.WRONG_DEFAULT, "Sum"),
                "dead deliveries": own(Metric.DEAD_DELIVERIES, "Sum"),
            },
        ),
    ]


def _functions(names: Names) -> list[watch.IWidget]:
    return [
        _graph(f"{title} by function", {each: of_lambda(arn, name, "Sum") for each, arn in names.functions.items()})
        for title, name in (("Invocations", "Invocations"), ("Errors", "Errors"), ("Throttles", "Throttles"))
    ]


def _models() -> list[watch.IWidget]:
    return [
        _graph(
            "Calls of models",
            {
                "calls": own(Metric.MODEL_CALLS, "Sum"),
                "failures": own(Metric.MODEL_FAILURES, "Sum"),
                "throttled": own(Metric.MODEL_THROTTLES, "Sum"),
                "refused replies": own(Metric.REFUSED_REPLIES, "Sum"),
            },
        ),
        _graph("Latency of models, ms", {share: own(Metric.MODEL_LATENCY, share) for share in ("p50", "p90", "p99")}),
        _graph("Tokens", {"in": own(Metric.INPUT_TOKENS, "Sum"), "out": own(Metric.OUTPUT_TOKENS, "Sum")}),
        _graph(
            "Cost, USD",
            {
                "cost": own(Metric.MODEL_COST, "Sum"),
                "unpriced calls": own(Metric.UNPRICED_CALLS, "Sum"),
                "tenants near a limit": own(Metric.SPEND_ALERTS, "Sum"),
            },
        ),
    ]


def _database(cluster: str) -> list[watch.IWidget]:
    used = Measure("AWS/RDS", "VolumeBytesUsed", (("DBClusterIdentifier", cluster),), "Maximum")
    return [
        _graph("Database capacity, ACU", {"ACU": of_database(cluster, "ServerlessDatabaseCapacity", "Average")}),
        _graph(
            "Database load, %",
            {
                "of capacity": of_database(cluster, "ACUUtilization", "Average"),
                "of CPU": of_database(cluster, "CPUUtilization", "Average"),
            },
        ),
        _graph("Connections", {"connections": of_database(cluster, "DatabaseConnections", "Maximum")}),
        _graph("Stored, bytes", {"bytes": used}),
    ]


def _graph(title: str, lines: Mapping[str, Measure]) -> watch.GraphWidget:
    return watch.GraphWidget(title=title, left=[_line(label, measure) for label, measure in lines.items()])


def _by_kind(title: str, metric: Metric) -> watch.GraphWidget:
    """One line for each kind that has been measured lately."""
    schema = f'{{{NAMESPACE},{SERVICE},{KIND}}} MetricName="{metric.value}" {SERVICE}="{SERVICE_NAME}"'
    found = watch.MathExpression(
        expression=f"SEARCH('{schema}', 'Maximum', 300)", using_metrics={}, label="", period=_PERIOD
    )
    return watch.GraphWidget(title=title, left=[found])


def _line(label: str, measure: Measure) -> watch.Metric:
    return watch.Metric(
        namespace=measure.namespace,
        metric_name=measure.name,
        dimensions_map=dict(measure.dimensions),
        statistic=measure.statistic,
        label=label,
        period=_PERIOD,
    )


def _of_queues(queues: Mapping[str, str], metric: str) -> dict[str, Measure]:
    return {name: Measure("AWS/SQS", metric, (("QueueName", queue),), "Maximum") for name, queue in queues.items()}


def _api(name: str, at: tuple[tuple[str, str], ...]) -> list[watch.IWidget]:
    calls = {title: Measure("AWS/ApiGateway", title, at, "Sum") for title in ("Count", "4xx", "5xx")}
    shares = {share: Measure("AWS/ApiGateway", "Latency", at, share) for share in ("p50", "p90", "p99")}
    return [_graph(f"{name}: calls", calls), _graph(f"{name}: latency, ms", shares)]
