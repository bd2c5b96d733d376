"""The one place that says what becomes of work that ends in an error.  Called by the jobs; pure."""

from __future__ import annotations

from enum import Enum
from typing import Final

from hindsight_aws.errors import (
    DatabaseTooSlow,
    DatabaseUnavailable,
    FilesUnavailable,
    HindsightError,
    ModelUnavailable,
    SignerUnavailable,
    WorkDeferred,
    WorkRaced,
    WorkSuperseded,
)


class Outcome(Enum):
    """What became of the work that a message names.  The message itself is acknowledged in any case."""

    DONE = "done"
    """The rows say the rest; what is to be gone on with has a wake-up of its own."""
    GIVEN_UP = "given_up"
    """It will never succeed as it is: the row, or of what has no row the log, says why."""


_PASSING: Final = (
    DatabaseUnavailable,
    DatabaseTooSlow,
    FilesUnavailable,
    ModelUnavailable,
    SignerUnavailable,
    WorkRaced,
)


def may_pass(error: HindsightError) -> bool:
    """Whether the same work may succeed later, and nothing else wakes it."""
    return isinstance(error, _PASSING)


def outcome_of(error: HindsightError) -> Outcome:
    """What became of work that ended in this error; a deferral, or somebody else's work, is no failure."""
    is_well = may_pass(error) or isinstance(error, (WorkDeferred, WorkSuperseded))
    return Outcome.DONE if is_well else Outcome.GIVEN_UP
