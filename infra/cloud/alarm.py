"""What an alarm is: a metric of CloudWatch, from when on it is trouble, and which runbook says what to do then.

The nouns of the table in alarms.py; nothing here knows the CDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hindsight_aws.model.metric import NAMESPACE, SERVICE, SERVICE_NAME, Metric
from infra.cloud.config import Profile

PROD: Final = frozenset({Profile.PROD})
BOTH: Final = frozenset(Profile)


class Missing(StrEnum):
    """What silence means: all is well, trouble, or what was last known. Spelled as CloudWatch does."""

    WELL = "notBreaching"
    TROUBLE = "breaching"
    AS_BEFORE = "ignore"


class Sense(StrEnum):
    """On which side of its threshold a measurement is trouble. Spelled as CloudWatch does."""

    AT_LEAST = "GreaterThanOrEqualToThreshold"
    BELOW = "LessThanThreshold"
    ABOVE_USUAL = "GreaterThanUpperThreshold"


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric of CloudWatch. Values of dimensions may be references to what is deployed."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str


@dataclass(frozen=True, slots=True)
class Share:
    """How much of `whole` is `part`, as a fraction; nothing below `least` of the whole, where one is no pattern."""

    part: Measure
    whole: Measure
    least: int


@dataclass(frozen=True, slots=True)
class Alarm:
    """When `watched` is on the wrong side of `threshold` for `periods` times `minutes`, `sentence` is true.

    With `Sense.ABOVE_USUAL` the threshold is the width of the usual band in standard deviations.
    """

    name: str
    runbook: str
    sentence: str
    watched: Measure | Share
    threshold: float
    minutes: int = 5
    periods: int = 1
    sense: Sense = Sense.AT_LEAST
    missing: Missing = Missing.WELL
    profiles: frozenset[Profile] = PROD

    @property
    def billed(self) -> int:
        """How many metrics it is paid for: those it reads, and two more for a usual band."""
        if self.sense is Sense.ABOVE_USUAL:
            return 3
        return 2 if isinstance(self.watched, Share) else 1

    @property
    def description(self) -> str:
        """What the person who is told reads."""
        return f"{self.sentence} Runbook: docs/runbooks/{self.runbook}.md"


@dataclass(frozen=True, slots=True)
class Names:
    """What is deployed is called, by the names of the table; `cluster` is none for an operator's database."""

    functions: Mapping[str, str]
    queues: Mapping[str, str]
    dead_letters: Mapping[str, str]
    undelivered: str
    apis: Mapping[str, str]
    workflows: Mapping[str, str]
    cluster: str | None


def own(metric: Metric, statistic: str) -> Measure:
    """A metric that the functions write themselves."""
    return Measure(NAMESPACE, metric.value, ((SERVICE, SERVICE_NAME),), statistic)


def of_lambda(function: str, name: str, statistic: str) -> Measure:
    """A metric that Lambda writes about a function."""
    return Measure("AWS/Lambda", name, (("FunctionName", function),), statistic)


def of_database(cluster: str, name: str, statistic: str) -> Measure:
    """A metric of the instance that writes."""
    return Measure("AWS/RDS", name, (("DBClusterIdentifier", cluster), ("Role", "WRITER")), statistic)
