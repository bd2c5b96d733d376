"""The alarms on what the functions measure themselves; a part of the table in alarms.py.

The sweep measures what waits, and `dev` sweeps seldom: a gauge that is silent keeps the alarm as it was.
"""

from typing import Final

from hindsight_aws.model.metric import Metric
from infra.cloud.alarm import BOTH, Alarm, Missing, Sense, own

OF_WORK: Final = (
    Alarm(
        "OldestPendingFact",
        "oldest-pending-fact",
        "A fact has waited for an hour to become part of what is believed.",
        own(Metric.OLDEST_PENDING_FACT, "Maximum"),
        3600,
        periods=3,
        missing=Missing.AS_BEFORE,
    ),
    Alarm(
        "OldestDueWork",
        "oldest-due-work",
        "Work has been due for half an hour and nobody took it.",
        own(Metric.OLDEST_DUE_WORK, "Maximum"),
        1800,
        periods=3,
        missing=Missing.AS_BEFORE,
    ),
    Alarm(
        "FailedWork",
        "failed-work",
        "Work was given up and waits for somebody to recover it.",
        own(Metric.FAILED_WORK, "Maximum"),
        1,
        missing=Missing.AS_BEFORE,
        profiles=BOTH,
    ),
    Alarm(
        "WrongDefault",
        "wrong-default",
        "A default of the banks does not hold; the last good one is used.",
        own(Metric.WRONG_DEFAULT, "Sum"),
        1,
        profiles=BOTH,
    ),
    Alarm(
        "DatabaseUnavailable",
        "database-unavailable",
        "Functions find no database.",
        own(Metric.DATABASE_UNAVAILABLE, "Sum"),
        3,
        periods=2,
    ),
    Alarm(
        "DeadDeliveries",
        "dead-deliveries",
        "Webhooks were given up: their receivers do not answer.",
        own(Metric.DEAD_DELIVERIES, "Sum"),
        1,
        minutes=60,
    ),
    Alarm(
        "SpendAlerts",
        "spend-alerts",
        "A tenant has used most of a daily limit.",
        own(Metric.SPEND_ALERTS, "Sum"),
        1,
    ),
)
"""Work that waits, is given up, or goes on in a way nobody chose."""

OF_MODELS: Final = (
    Alarm(
        "ModelThrottles",
        "model-throttles",
        "Bedrock keeps refusing calls: too many at once.",
        own(Metric.MODEL_THROTTLES, "Sum"),
        50,
        periods=3,
    ),
    Alarm(
        "ModelFailures",
        "model-failures",
        "Calls of models fail.",
        own(Metric.MODEL_FAILURES, "Sum"),
        10,
        periods=3,
    ),
    Alarm(
        "RefusedReplies",
        "refused-replies",
        "Models give replies that cannot be used.",
        own(Metric.REFUSED_REPLIES, "Sum"),
        50,
        minutes=60,
    ),
    Alarm(
        "UnpricedCalls",
        "unpriced-calls",
        "Calls are made of a model whose price is not known.",
        own(Metric.UNPRICED_CALLS, "Sum"),
        1,
        minutes=60,
    ),
    Alarm(
        "ModelCost",
        "model-cost",
        "Models cost more than usual at this hour.",
        own(Metric.MODEL_COST, "Sum"),
        3,
        minutes=60,
        periods=2,
        sense=Sense.ABOVE_USUAL,
    ),
)
"""What models refuse, fail at, and cost."""
