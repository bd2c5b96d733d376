"""What a month will cost: what a deployment costs idle, and what so many retains, recalls and reflects add.  Pure.

Called by the command line; calls the price tables: models as the ledger prices them, the rest by service_prices.
docs/cost.md says the same in words, and where each assumption was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.model_gateway import TokenUsage
from hindsight_aws.usage import service_prices as price
from hindsight_aws.usage.prices import usd_for

GB: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is paid for whether anybody calls or not; `zones` have an endpoint of each service or a NAT instance."""

    name: str
    least_acu: Decimal
    instances: int
    alarm_metrics: int
    endpoints: int
    zones: int
    queues: int = 6
    snapshot_mb: int = 0
    """Memory of the functions that start from a snapshot, together."""
    keys: int = 2
    nat_instances: int = 0


DEPLOYMENTS: Final = {
    "dev": Deployment("dev", Decimal(0), 1, alarm_metrics=10, endpoints=5, zones=1),
    "prod": Deployment("prod", Decimal("0.5"), 2, alarm_metrics=80, endpoints=5, zones=2, snapshot_mb=7355),
}
"""The two profiles as infra/cloud makes them; a test counts."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Calls of a month, and what one is like. Tokens are those that the models' own tokenizers count."""

    retains: int = 0
    recalls: int = 0
    reflects: int = 0
    tokens: int = 300
    """Of the text of a retain."""
    facts: int = 3
    """That a retain comes to."""
    scopes: int = 1
    """That a fact belongs to."""
    active_hours: int = 60
    """In which a pausing database is awake."""


@dataclass(frozen=True, slots=True)
class Models:
    """Which models are asked, by the ids that the settings take."""

    text: str
    embeddings: str
    rerank: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One position: what, how it was reckoned, and USD a month; None where the table has no price for the model."""

    what: str
    how: str
    usd: Decimal | None


# What is read: real calls of this version, counted by the estimator (tests/unit/usage/test_what_calls_read.py).
# What is written, how many facts share a call and how many calls a reflect takes are assumptions.
EXTRACT_READS, EXTRACT_WRITES_PER_FACT = 2250, 90
CONSOLIDATE_READS, CONSOLIDATE_READS_PER_FACT, CONSOLIDATE_WRITES_PER_FACT, FACTS_PER_CALL = 1750, 400, 80, 6
REFLECT_CALLS, REFLECT_READS, REFLECT_WRITES = Decimal("1.5"), 6500, 350
TOKENS_PER_FACT, TOKENS_PER_QUESTION = 30, 15
GB_SECONDS = {"retain": Decimal(6), "recall": Decimal("0.25"), "reflect": Decimal(16), "consolidate": Decimal("1.2")}
QUEUE_REQUESTS_PER_RETAIN, TRANSITIONS_PER_REFLECT = 6, 12
_POLLS: Final = 5 * 3 * 60 * price.HOURS
"""Of a queue in a month: five pollers of its event source ask three times a minute each, whatever is in it."""
BYTES_PER_FACT, IO_PER_RETAIN, IO_PER_RECALL = 4000, 60, 20
LOG_BYTES_PER_CALL = 1500


def idle(deployment: Deployment, active_hours: int = 0) -> list[Line]:
    """What a month without a call costs; `active_hours` are those in which a pausing database is awake."""
    hours = price.HOURS if deployment.least_acu else active_hours
    acu = max(deployment.least_acu, Decimal("0.5"))
    lines = [
        Line(
            "database",
            f"{deployment.instances} x {acu} ACU x {hours} h",
            deployment.instances * acu * hours * price.ACU_HOUR,
        ),
        Line(
            "endpoints",
            f"{deployment.endpoints} x {deployment.zones} zones",
            deployment.endpoints * deployment.zones * price.HOURS * price.ENDPOINT_HOUR,
        ),
        Line("alarms", f"{deployment.alarm_metrics} metrics", deployment.alarm_metrics * price.ALARM_MONTH),
        Line("metrics", f"{len(Metric)} of our own", len(Metric) * price.METRIC_MONTH),
        Line("dashboard", "1", price.DASHBOARD_MONTH),
        Line("keys and secret", f"{deployment.keys} + 1", deployment.keys * price.KEY_MONTH + price.SECRET_MONTH),
        Line("looking into queues", f"{deployment.queues} queues", deployment.queues * _POLLS * price.QUEUE_REQUEST),
    ]
    if deployment.snapshot_mb:
        gb = Decimal(deployment.snapshot_mb) / 1024
        usd = gb * price.HOURS * 3600 * price.SNAPSHOT_GB_SECOND
        lines.append(Line("snapshots", f"{gb:.1f} GB of one version of the functions", usd))
    if deployment.nat_instances:
        usd = deployment.nat_instances * price.HOURS * price.NAT_INSTANCE_HOUR
        lines.append(Line("NAT instances", str(deployment.nat_instances), usd))
    return lines


def traffic(of: Traffic, models: Models) -> list[Line]:
    """What the calls of a month add."""
    return [*_models(of, models), *_services(of)]


def total(lines: list[Line]) -> Decimal | None:
    """The sum; None when a position has no price, for unknown is never free."""
    known = [line.usd for line in lines if line.usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(lines) else None


def _models(of: Traffic, models: Models) -> Iterator[Line]:
    facts = of.retains * of.facts
    reads = of.retains * (EXTRACT_READS + of.tokens)
    yield _asked("extraction", models.text, of.retains, reads, facts * EXTRACT_WRITES_PER_FACT)
    worked = facts * of.scopes
    calls = -(-worked // FACTS_PER_CALL)
    reads = calls * CONSOLIDATE_READS + worked * CONSOLIDATE_READS_PER_FACT
    yield _asked("consolidation", models.text, calls, reads, worked * CONSOLIDATE_WRITES_PER_FACT)
    calls = int(of.reflects * REFLECT_CALLS)
    yield _asked("reflect", models.text, calls, calls * REFLECT_READS, calls * REFLECT_WRITES)
    looked = of.recalls + calls
    # Facts, and the observations that come of them.
    embedded = (facts + worked) * TOKENS_PER_FACT + looked * TOKENS_PER_QUESTION
    yield _asked("embeddings", models.embeddings, facts + worked + looked, embedded, 0)
    if models.rerank is not None:
        yield Line("rerank", f"{looked} calls", usd_for(models.rerank, TokenUsage(), looked))


def _asked(what: str, model: str, calls: int, reads: int, writes: int) -> Line:
    how = f"{calls:,} calls, {reads:,} + {writes:,} tokens"
    return Line(f"{what} ({model})", how, usd_for(model, TokenUsage(input=reads, output=writes), calls))


def _services(of: Traffic) -> Iterator[Line]:
    calls = of.retains + of.recalls + of.reflects
    worked = of.retains * of.facts * of.scopes
    seconds = (
        of.retains * GB_SECONDS["retain"]
        + of.recalls * GB_SECONDS["recall"]
        + of.reflects * GB_SECONDS["reflect"]
        + worked * GB_SECONDS["consolidate"]
    )
    yield Line("functions", f"{seconds:,.0f} GB s", seconds * price.LAMBDA_GB_SECOND + 2 * calls * price.LAMBDA_REQUEST)
    yield Line("HTTP API", f"{calls:,} requests", calls * price.HTTP_REQUEST)
    messages = of.retains * QUEUE_REQUESTS_PER_RETAIN
    yield Line("queues", f"{messages:,} requests", messages * price.QUEUE_REQUEST)
    steps = of.reflects * TRANSITIONS_PER_REFLECT
    yield Line("workflow", f"{steps:,} transitions", steps * price.WORKFLOW_TRANSITION)
    stored = Decimal(of.retains * of.facts * (1 + of.scopes) * BYTES_PER_FACT) / GB
    yield Line("database storage", f"{stored:.2f} GB more", stored * price.DATABASE_GB_MONTH)
    touched = of.retains * IO_PER_RETAIN + (of.recalls + of.reflects) * IO_PER_RECALL
    yield Line("database I/O", f"{touched:,}", touched * price.DATABASE_IO)
    logged = Decimal(calls * LOG_BYTES_PER_CALL) / GB
    yield Line("logs", f"{logged:.2f} GB", logged * price.LOG_GB)
