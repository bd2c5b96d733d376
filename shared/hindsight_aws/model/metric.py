"""What the system measures about itself, by name: written by the functions, read by alarms and the dashboard.

A tenant, a bank or a model is a property of a measurement, never a dimension: metrics must not multiply with customers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

NAMESPACE: Final = "Hindsight"
SERVICE: Final = "service"
"""The dimension that every measurement has, always with the value `SERVICE_NAME`."""
SERVICE_NAME: Final = "hindsight"
KIND: Final = "kind"
"""The dimension of what a piece of work is; its values are a fixed few, as the sweep names them."""


class Unit(StrEnum):
    """Units as CloudWatch spells them."""

    COUNT = "Count"
    SECONDS = "Seconds"
    MILLISECONDS = "Milliseconds"
    NONE = "None"


class Metric(StrEnum):
    """The names of all metrics; a name is never used for another thing."""

    DUE_WORK = "DueWork"
    """Rows of work that are due and unheld, by kind; the sweep counts them."""
    OLDEST_DUE_WORK = "OldestDueWork"
    """Seconds since the row of work that has waited longest became due, by kind; 0 when none waits."""
    OLDEST_PENDING_FACT = "OldestPendingFact"
    """Seconds since the oldest fact was retained that no observation has taken in yet, parked tenants apart."""
    FAILED_WORK = "FailedWork"
    """Rows of work that are given up until somebody recovers them, by kind; 0 when there are none."""
    PARKED_TENANTS = "ParkedTenants"
    """Tenants whose model work waits for the next day."""
    SPEND_ALERTS = "SpendAlerts"
    """Tenants that passed the share of a daily limit at which somebody is told."""
    MODEL_CALLS = "ModelCalls"
    """Calls of models, of each text that is embedded one, whatever became of them."""
    MODEL_FAILURES = "ModelFailures"
    """Calls that ended in an error other than throttling, or that the model's provider refused."""
    MODEL_THROTTLES = "ModelThrottles"
    """Calls that the model's provider put off; the work is deferred."""
    MODEL_LATENCY = "ModelLatency"
    """Milliseconds from a call's beginning to its end; a batch of texts that are embedded is one."""
    INPUT_TOKENS = "InputTokens"
    """Tokens that models read, cached ones included."""
    OUTPUT_TOKENS = "OutputTokens"
    """Tokens that models wrote."""
    MODEL_COST = "ModelCost"
    """USD by the price table; calls that the table does not know are left out and counted as unpriced."""
    UNPRICED_CALLS = "UnpricedCalls"
    """Calls of models that the price table does not know."""
    REFUSED_REPLIES = "RefusedReplies"
    """Replies of a model that were malformed or broke a rule, and changed nothing."""
    WRONG_DEFAULT = "WrongDefault"
    """Events that met a default of the banks that does not hold; what needed it did without, or failed."""
    SERVER_ERRORS = "ServerErrors"
    """Answers of 500 and above that are no deliberate deferral."""
    DATABASE_UNAVAILABLE = "DatabaseUnavailable"
    """Events that found no database within their patience: it is resuming, or gone."""
    DEAD_DELIVERIES = "DeadDeliveries"
    """Webhook deliveries whose attempts ran out."""


UNITS: Final = {
    Metric.OLDEST_DUE_WORK: Unit.SECONDS,
    Metric.OLDEST_PENDING_FACT: Unit.SECONDS,
    Metric.MODEL_LATENCY: Unit.MILLISECONDS,
    Metric.MODEL_COST: Unit.NONE,
}
"""The unit of each metric that does not count."""


def unit_of(metric: Metric) -> Unit:
    """The metric's unit."""
    return UNITS.get(metric, Unit.COUNT)


BY_KIND: Final = frozenset({Metric.DUE_WORK, Metric.OLDEST_DUE_WORK, Metric.FAILED_WORK})
"""The metrics that are measured once for each kind of work."""


def dimension_sets(metric: Metric) -> tuple[tuple[str, ...], ...]:
    """The sets of dimensions to publish a measurement under.

    Alarms watch the first set, the maximum over all kinds, so that their number does not grow with the kinds; the
    dashboard shows the second.
    """
    return ((SERVICE,), (SERVICE, KIND)) if metric in BY_KIND else ((SERVICE,),)
