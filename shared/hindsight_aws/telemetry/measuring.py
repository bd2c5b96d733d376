"""Measurements, told by whoever works.  Calls the port that the runtime has named; nothing happens where it has not."""

from __future__ import annotations

from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.metrics import Metrics
from hindsight_aws.telemetry.event import current

_metrics: Metrics | None = None


def measure_into(metrics: Metrics | None) -> None:
    """Says where measurements go; None: nowhere."""
    global _metrics  # noqa: PLW0603 - one for the process, as logging's handlers are
    _metrics = metrics


def measure(metric: Metric, value: float = 1, *, kind: str | None = None, **properties: object) -> None:
    """Takes a measurement of the event in hand; `properties` come beside the event's own ids."""
    if _metrics is not None:
        told = {name: str(property_) for name, property_ in properties.items() if property_ is not None}
        event = current()
        whose = {"function": event.function, "requestId": event.request_id, **event.ids, **told}
        _metrics.add(metric, value, kind=kind, properties={name: id_ for name, id_ in whose.items() if id_})


def measure_once(metric: Metric) -> None:
    """Counts the event in hand, once however often this is called in it."""
    measured = current().measured
    if metric not in measured:
        measured.add(metric)
        measure(metric)
