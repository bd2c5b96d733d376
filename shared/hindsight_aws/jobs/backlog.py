"""Measures how much work waits over all tenants, and how much is given up.  Called by the sweep; calls the store."""

from __future__ import annotations

import logging

from hindsight_aws.errors import HindsightError
from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.store import DueBy, Store
from hindsight_aws.telemetry import measure

_log = logging.getLogger(__name__)


def measure_backlog(store: Store, due_by: DueBy) -> None:
    """Measures what is due, what is given up, the oldest fact and who is parked; what hinders that is logged.

    Where nothing is, zero is measured, over all kinds: an alarm that keeps its state in silence ends by it.
    """
    try:
        backlog = store.backlog(due_by)
    except HindsightError as error:
        _log.warning("the backlog was not measured: %s: %s", type(error).__name__, error)
        return
    for metric, by_kind in (
        (Metric.DUE_WORK, backlog.due),
        (Metric.OLDEST_DUE_WORK, backlog.oldest_s),
        (Metric.FAILED_WORK, backlog.failed),
    ):
        for kind, amount in by_kind.items():
            measure(metric, amount, kind=kind)
        if not by_kind:
            measure(metric, 0)
    measure(Metric.OLDEST_PENDING_FACT, backlog.oldest_fact_s)
    measure(Metric.PARKED_TENANTS, backlog.parked_tenants)
