"""Every error the product raises on purpose, as one tree.

HindsightError
├── InvalidRequest            the caller's fault; nothing was changed
│   ├── InvalidField          one field holds what it may not
│   ├── NotFound              the thing is not there, or not there for this caller
│   ├── Conflict              the thing is in a state that forbids it
│   └── TooLarge              over a documented size limit
├── AccessDenied              known caller, not allowed
├── Unauthenticated           unknown, expired or revoked key
├── WorkDeferred              do it later: nothing is wrong with the work
│   ├── ModelThrottled        the provider asked us to slow down
│   ├── WorkRaced             the database ended this attempt for another's sake; trying again is the cure
│   └── LeaseHeld             somebody else is at it
├── WorkSuperseded            a fence or version moved: drop this attempt, the rows say what is next
├── DatabaseUnavailable       no connection within the time allowed, or it broke
├── DatabaseRefused           a statement broke a rule of the schema; nothing of its transaction was written
├── DatabaseTooSlow           a statement ran past its time limit; nothing of its transaction was written
└── ModelError                a model call that gave nothing usable
    ├── ModelUnavailable      a passing fault of the provider
    ├── ModelRefused          content policy; final
    ├── ModelDenied           credentials, validation or configuration; final until somebody mends it
    │   └── ModelInputTooLong the input is past the model's context; a smaller one may pass
    ├── ModelReplyMalformed   the reply does not hold to the schema
    └── ModelReplyTruncated   the reply was cut at the output limit

`api/errors.py` alone maps these to HTTP; `jobs/outcomes.py` alone maps them to queue outcomes.
"""

from __future__ import annotations

from datetime import datetime


class HindsightError(Exception):
    """Something the product knows how to report."""


class InvalidRequest(HindsightError):
    """The request is wrong in a way that names its field; nothing was changed."""


class InvalidField(InvalidRequest):
    """One field of the request holds what it may not; `field` is its path, such as `items[0].content`."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field
        self.problem = problem


class NotFound(InvalidRequest):
    """There is no such thing, or none that this caller may see."""


class Conflict(InvalidRequest):
    """The thing exists in a state that forbids what was asked."""


class TooLarge(InvalidRequest):
    """The request is over a documented size limit."""


class AccessDenied(HindsightError):
    """The caller is known and may not do this."""


class Unauthenticated(HindsightError):
    """No valid key came with the call."""


class WorkDeferred(HindsightError):
    """The work is sound and must be done later."""

    def __init__(self, message: str, until: datetime | None = None) -> None:
        super().__init__(message)
        self.until = until


class ModelThrottled(WorkDeferred):
    """The model's provider asked us to slow down."""


class WorkRaced(WorkDeferred):
    """Another transaction came in between: the same attempt may succeed next time.

    It was a deadlock, or a row that went away.
    """


class LeaseHeld(WorkDeferred):
    """Another worker holds the lease; it was told to look again."""


class WorkSuperseded(HindsightError):
    """A fence or a version moved while this attempt ran; its effects were not written."""


class DatabaseRefused(HindsightError):
    """A statement broke a rule of the schema; nothing of its transaction was written."""


class DatabaseTooSlow(HindsightError):
    """A statement ran past its time limit; nothing of its transaction was written."""


class DatabaseUnavailable(HindsightError):
    """No database connection within the time allowed, or it broke in mid-transaction."""


class ModelError(HindsightError):
    """A model call gave nothing usable."""


class ModelUnavailable(ModelError):
    """The provider failed in a way that may pass."""


class ModelRefused(ModelError):
    """The provider refused the content; asking again will not help."""


class ModelDenied(ModelError):
    """The provider refused the caller: credentials, validation or configuration."""


class ModelInputTooLong(ModelDenied):
    """The input is past the model's context window; the same input never passes, a smaller one may."""


class ModelReplyMalformed(ModelError):
    """The reply does not hold to the schema that was asked for."""


class ModelReplyTruncated(ModelError):
    """The reply was cut at the output limit."""
