"""Where measurements go.  Fulfilled by aws/emf.py; called by telemetry/."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hindsight_aws.model.metric import Metric


class Metrics(Protocol):
    """Takes measurements of the event in hand, and writes them when it is over."""

    def add(self, metric: Metric, value: float, *, kind: str | None, properties: Mapping[str, str]) -> None:
        """Takes one measurement, from any thread.

        `kind` is what the work is, for the metrics of `BY_KIND`.  `properties` tell whose it is; they are found by
        queries over the log and multiply no metric.
        """
        ...

    def flush(self) -> None:
        """Writes all that was taken since the last time; the event ends, well or not."""
        ...
