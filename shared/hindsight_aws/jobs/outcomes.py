"""The one place that says what a queue is told when work ends in an error.  Called by the jobs; pure."""

from __future__ import annotations

from enum import Enum

from hindsight_aws.errors import (
    DatabaseTooSlow,
    DatabaseUnavailable,
    FilesUnavailable,
    HindsightError,
    ModelUnavailable,
    WorkDeferred,
    WorkRaced,
    WorkSuperseded,
)


class Outcome(Enum):
    """What becomes of the message."""

    DONE = "done"
    """Acknowledged: the rows say the rest."""
    LATER = "later"
    """Given back to the queue: what failed may pass."""
    PARK = "park"
    """Acknowledged: it will never succeed, and the row (or the log) says why."""


def outcome_of(error: HindsightError) -> Outcome:
    """What a message whose work ended in this error is told.

    A deferral has its own wake-up, so it is done with; a passing fault goes back; everything else is final and on the
    row.
    """
    if isinstance(error, (DatabaseUnavailable, DatabaseTooSlow, FilesUnavailable, ModelUnavailable, WorkRaced)):
        return Outcome.LATER
    if isinstance(error, (WorkDeferred, WorkSuperseded)):
        return Outcome.DONE
    return Outcome.PARK
