"""What the alarms would see at one moment: values of their metrics from rows, queues and the functions' logs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hindsight_aws.model.metric import NAMESPACE, Metric
from tests.support.world import QUEUES, World

_DUE: Final = """
    SELECT kind, count(*) AS due, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float AS oldest FROM (
        SELECT 'operation' AS kind, due_at FROM operations
        WHERE status IN ('pending', 'processing') AND due_at <= now() AND lease_until <= now()
        UNION ALL
        SELECT 'consolidation', w.due_at FROM consolidation_work w JOIN scopes s USING (tenant_id, bank_id, scope_id)
        WHERE w.state = 'pending' AND w.due_at <= now() AND s.lease_until <= now()
        UNION ALL
        SELECT 'webhook', due_at FROM webhook_deliveries
        WHERE status = 'pending' AND due_at <= now() AND lease_until <= now()) AS found
    GROUP BY kind"""
_COUNTED: Final = {
    Metric.OLDEST_PENDING_FACT: """
        SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS value
        FROM consolidation_work WHERE state = 'pending'""",
    Metric.FAILED_WORK: """
        SELECT (SELECT count(*) FROM operations WHERE status = 'failed')
             + (SELECT count(*) FROM consolidation_work WHERE state = 'failed') AS value""",
    Metric.MODEL_THROTTLES: """
        SELECT coalesce(sum(calls), 0)::float AS value FROM usage_ledger WHERE status = 'throttled'""",
    Metric.DEAD_DELIVERIES: "SELECT count(*) AS value FROM webhook_deliveries WHERE status = 'failed'",
}


@dataclass(frozen=True, slots=True)
class QueueReading:
    """Messages that wait, are in hand, are to come later, and lie dead; and the oldest's age in scaled seconds."""

    waiting: int
    in_flight: int
    delayed: int
    dead: int
    oldest: float


@dataclass(frozen=True, slots=True)
class Reading:
    """Values by metric, and the queues; `minute` is the scaled clock's."""

    minute: float
    values: Mapping[Metric, float]
    queues: Mapping[str, QueueReading]

    def line(self) -> str:
        """For people to read."""
        said = [f"{metric} {value:.0f}" for metric, value in self.values.items()]
        said += [
            f"{name} {one.waiting} + {one.in_flight} + {one.delayed} later, {one.oldest:.0f} s, {one.dead} dead"
            for name, one in self.queues.items()
            if one.waiting or one.in_flight or one.delayed or one.dead
        ]
        return f"minute {self.minute:5.1f}: " + ", ".join(said)


def read(world: World, minute: float, speed: float) -> Reading:
    """What there is to see now. Raises: psycopg.OperationalError while the database is away."""
    due = world.sql(_DUE)
    values = {
        Metric.DUE_WORK: float(sum(row["due"] for row in due)),
        Metric.OLDEST_DUE_WORK: max((row["oldest"] for row in due), default=0.0),
        **{metric: float(world.sql(query)[0]["value"]) for metric, query in _COUNTED.items()},
        Metric.DATABASE_UNAVAILABLE: float(world.logged().count("DatabaseUnavailable")),
    }
    queues = {name: world.stack.queues.counts(name) for name in QUEUES}
    return Reading(
        minute,
        values,
        {
            name: QueueReading(one.visible, one.in_flight, one.delayed, one.dead, one.oldest * speed)
            for name, one in queues.items()
        },
    )


def emitted(world: World) -> dict[str, list[float]]:
    """Every value that the functions wrote to their logs for CloudWatch, by metric, in the order of the logs."""
    found: dict[str, list[float]] = defaultdict(list)
    for document in _documents(world.logged()):
        for directive in document["_aws"]["CloudWatchMetrics"]:
            if directive["Namespace"] == NAMESPACE:
                for metric in directive["Metrics"]:
                    value = document[metric["Name"]]
                    found[metric["Name"]] += value if isinstance(value, list) else [value]
    return found


def _documents(log: str) -> Iterator[dict[str, Any]]:
    for line in log.splitlines():
        if line.startswith("{") and '"_aws"' in line:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:  # its writer was killed in the middle
                continue
