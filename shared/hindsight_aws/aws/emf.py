"""Metrics in CloudWatch's Embedded Metric Format: JSON lines on standard output, which is the log.

Made by invocation.py.  Costs no call: a function in an isolated network has none to make.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hindsight_aws.model.metric import BY_KIND, KIND, NAMESPACE, SERVICE, SERVICE_NAME, Metric, dimension_sets, unit_of

_MOST_VALUES: Final = 100
"""Values that the format allows one metric of a line."""


@dataclass(slots=True)
class _Line:
    """What one line says: measurements with the same owner, of the same kind."""

    values: dict[Metric, list[float]] = field(default_factory=dict)


class EmfMetrics:
    """Keeps `ports.metrics.Metrics`.

    A line holds what has the same properties, so that a query over the log can add up by tenant, bank or model.
    """

    def __init__(self, write: Callable[[str], object] | None = None, now: Callable[[], float] = time.time) -> None:
        self._write = write or _to_standard_output
        self._now = now
        self._lock = threading.Lock()
        self._lines: dict[tuple[bool, str | None, tuple[tuple[str, str], ...]], _Line] = {}

    def add(self, metric: Metric, value: float, *, kind: str | None, properties: Mapping[str, str]) -> None:
        place = (metric in BY_KIND, kind if metric in BY_KIND else None, tuple(sorted(properties.items())))
        with self._lock:
            self._lines.setdefault(place, _Line()).values.setdefault(metric, []).append(float(value))

    def flush(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, {}
        for (_, kind, properties), line in lines.items():
            for values in _cut(line.values):
                self._write(json.dumps(document(values, kind, dict(properties), self._now()), separators=(",", ":")))


def document(
    values: Mapping[Metric, list[float]], kind: str | None, properties: Mapping[str, str], at: float
) -> dict[str, object]:
    """The line as CloudWatch reads it; all metrics of `values` have the same sets of dimensions."""
    dimensions = {SERVICE: SERVICE_NAME} | ({} if kind is None else {KIND: kind})
    sets = [list(names) for names in dimension_sets(next(iter(values))) if set(names) <= set(dimensions)]
    return {
        "_aws": {
            "Timestamp": int(at * 1000),
            "CloudWatchMetrics": [
                {
                    "Namespace": NAMESPACE,
                    "Dimensions": sets,
                    "Metrics": [{"Name": metric.value, "Unit": unit_of(metric).value} for metric in values],
                }
            ],
        },
        **properties,
        **dimensions,
        **{metric.value: found for metric, found in values.items()},
    }


def _cut(values: Mapping[Metric, list[float]]) -> list[dict[Metric, list[float]]]:
    """The measurements in as many parts as the format's bound on values asks for."""
    longest = max(len(found) for found in values.values())
    return [
        {metric: found[start : start + _MOST_VALUES] for metric, found in values.items() if found[start:]}
        for start in range(0, longest, _MOST_VALUES)
    ]


def _to_standard_output(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
