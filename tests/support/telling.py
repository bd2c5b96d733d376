"""What a process tells about itself, kept by a test: measurements, spans and log lines."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.tracing import FinishedSpan
from hindsight_aws.telemetry import Event, begin, measure_into, trace_into
from hindsight_aws.telemetry.logs import LogLines


@dataclass
class KeptMetrics:
    """Keeps each measurement with its kind and properties."""

    added: list[tuple[Metric, float, str | None, Mapping[str, str]]] = field(default_factory=list)
    flushed: int = 0

    def add(self, metric: Metric, value: float, *, kind: str | None, properties: Mapping[str, str]) -> None:
        self.added.append((metric, value, kind, dict(properties)))

    def flush(self) -> None:
        self.flushed += 1

    def sums(self) -> dict[Metric, float]:
        """What each metric came to."""
        totals: dict[Metric, float] = {}
        for metric, value, _, _ in self.added:
            totals[metric] = totals.get(metric, 0) + value
        return totals

    def of(self, metric: Metric) -> list[tuple[float, str | None]]:
        """The measurements of one metric, with their kinds."""
        return [(value, kind) for name, value, kind, _ in self.added if name is metric]


@dataclass
class KeptSpans:
    """Keeps spans as they end."""

    ended: list[FinishedSpan] = field(default_factory=list)
    flushed: int = 0

    def add(self, span: FinishedSpan) -> None:
        self.ended.append(span)

    def flush(self) -> None:
        self.flushed += 1

    def named(self, name: str) -> FinishedSpan:
        """The one span of that name."""
        (found,) = [span for span in self.ended if span.name == name]
        return found


@contextmanager
def telling(spans: KeptSpans | None = None) -> Iterator[KeptMetrics]:
    """While it lasts, what is measured is kept, and what is traced as well where `spans` are given."""
    metrics = KeptMetrics()
    measure_into(metrics)
    trace_into(spans)
    try:
        yield metrics
    finally:
        measure_into(None)
        trace_into(None)
        begin(Event())


def line_of(record: logging.LogRecord) -> dict[str, object]:
    """The line that a function writes of the record in the cloud."""
    written: dict[str, object] = json.loads(LogLines(as_json=True).format(record))
    return written
