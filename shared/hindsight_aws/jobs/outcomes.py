"""The one place that says what becomes of a message whose work ends in an error.  Called by the jobs; pure."""

from __future__ import annotations

from enum import Enum

from hindsight_aws.errors import HindsightError, WorkDeferred, WorkSuperseded, may_pass


class Outcome(Enum):
    """What became of the work that a message names.  The message itself is acknowledged in any case."""

    DONE = "done"
    """The rows say the rest; what is to be gone on with has a wake-up of its own."""
    GIVEN_UP = "given_up"
    """It will never succeed as it is: the row, or of what has no row the log, says why."""


def outcome_of(error: HindsightError) -> Outcome:
    """What became of work that ended in this error; a deferral, or somebody else's work, is no failure."""
    is_well = may_pass(type(error)) or isinstance(error, (WorkDeferred, WorkSuperseded))
    return Outcome.DONE if is_well else Outcome.GIVEN_UP
