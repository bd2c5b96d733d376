"""Every error the product raises on purpose, as one tree.

HindsightError
├── InvalidRequest            the caller's fault; nothing was changed
│   ├── InvalidField          one field holds what it may not
│   ├── NotFound              the thing is not there, or not there for this caller
│   ├── Conflict              the thing is in a state that forbids it
│   ├── TooLarge              over a documented size limit
│   ├── ArchiveRefused        an archive that is none of ours, or not as it was written
│   └── ContentRefused        the bank's screening policy lets nothing of it in
├── AccessDenied              known caller, not allowed
├── Unauthenticated           unknown, expired or revoked key
├── WorkDeferred              do it later: nothing is wrong with the work
│   ├── ModelThrottled        the provider asked us to slow down
│   ├── LimitReached          the tenant has used what it may: it goes on by itself at a time that is known
│   ├── WorkRaced             the database ended this attempt for another's sake; trying again is the cure
│   │   └── VectorsReplaced   the bank's vectors are, or are about to be, another model's
│   └── LeaseHeld             somebody else is at it
├── WorkSuperseded            a fence or version moved: drop this attempt, the rows say what is next
│   └── WorkCancelled         somebody cancelled it: nothing more is begun
├── WorkCrashed               workers died of it, as often as is allowed
├── FilesUnavailable          the store of uploaded files did not do what was asked; that may pass
├── FileUnreadable            a file that no text can be read from; final
├── SignerUnavailable         the key that signs receipts did not do what was asked; that may pass
├── DatabaseUnavailable       no connection within the time allowed, or it broke
│   └── NoDatabaseToken       no token to log in with could be signed
├── DatabaseRefused           a statement broke a rule of the schema; nothing of its transaction was written
├── DatabaseTooSlow           a statement ran past its time limit; nothing of its transaction was written
└── ModelError                a model call that gave nothing usable
    ├── ModelUnavailable      a passing fault of the provider
    ├── ModelRefused          content policy; final
    ├── ModelDenied           credentials, validation or configuration; final until somebody mends it
    │   └── ModelInputTooLong the input is past the model's context; a smaller one may pass
    ├── ModelReplyMalformed   the reply does not hold to the schema
    └── ModelReplyTruncated   the reply was cut at the output limit

`api/errors.py` alone maps these to HTTP; `PASSING_FAULTS` and `may_pass` say which faults are worth another attempt,
and `jobs/outcomes.py` what becomes of a message whose work ends in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final


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


class ArchiveRefused(InvalidRequest):
    """An uploaded archive is none that this product wrote, or is not as it was written; nothing of it is kept."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A find in an item that keeps it out of the bank: where and by which detector, never what."""

    item: int
    field: str
    detector: str
    count: int

    def as_json(self) -> dict[str, object]:
        """Its form on the wire and on operations."""
        return {"item": self.item, "field": self.field, "detector": self.detector, "count": self.count}


class ContentRefused(InvalidRequest):
    """Screening refused every item of the request; nothing of it was stored."""

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        found = ", ".join(sorted({violation.detector for violation in violations}))
        super().__init__(f"the bank's memory_defense refuses the content: {found}")
        self.violations = violations


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


class LimitReached(WorkDeferred):
    """The tenant has used up what it may use until `until`; `limit` names what, as in `usd_per_day`."""

    def __init__(self, message: str, until: datetime | None = None, limit: str = "") -> None:
        super().__init__(message, until)
        self.limit = limit


class WorkRaced(WorkDeferred):
    """Another transaction came in between: the same attempt may succeed next time.

    It was a deadlock, or a row that went away.
    """


class VectorsReplaced(WorkRaced):
    """The bank's vectors are another model's by now, or will be at `until`: what was made with the former is no use."""


class LeaseHeld(WorkDeferred):
    """Another worker holds the lease; it was told to look again."""


class WorkSuperseded(HindsightError):
    """A fence or a version moved while this attempt ran; its effects were not written."""


class WorkCancelled(WorkSuperseded):
    """Somebody cancelled the work while this attempt ran; it begins nothing more."""


class WorkCrashed(HindsightError):
    """Attempts that never came to an end: the workers at it died, as often as is allowed."""


class FilesUnavailable(HindsightError):
    """The store of uploaded files cannot be reached, or refused a call."""


class SignerUnavailable(HindsightError):
    """The key that signs receipts cannot be reached, or its service refused a call."""


class FileUnreadable(HindsightError):
    """No text can be read from the file; `name` is what its sender called it."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The file {name!r} {problem}")
        self.name = name
        self.problem = problem


class DatabaseRefused(HindsightError):
    """A statement broke a rule of the schema; nothing of its transaction was written."""


class DatabaseTooSlow(HindsightError):
    """A statement ran past its time limit; nothing of its transaction was written."""


class DatabaseUnavailable(HindsightError):
    """No database connection within the time allowed, or it broke in mid-transaction."""


class NoDatabaseToken(DatabaseUnavailable):
    """No token to log in with can be signed here; the message says why."""


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


PASSING_FAULTS: Final = (DatabaseTooSlow, FilesUnavailable, ModelUnavailable, SignerUnavailable, WorkRaced)
"""Faults after which the same work may succeed; each counts as an attempt at it, of which the last one fails.

DatabaseUnavailable is none of them, though it passes: while it lasts no attempt can be counted.
"""


def may_pass(kind: type[HindsightError]) -> bool:
    """Whether work that a fault of this kind ended may succeed later, and nothing else wakes it."""
    return issubclass(kind, (DatabaseUnavailable, *PASSING_FAULTS))


def kind_named(name: str) -> type[HindsightError] | None:
    """The kind of error that rows and workflows call so; None for a name of somebody else's, as `States.Timeout`."""
    return _KINDS.get(name)


def _within(kind: type[HindsightError]) -> Iterator[type[HindsightError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _within(each)


_KINDS: Final = {kind.__name__: kind for kind in _within(HindsightError)}
"""The tree above: what other rooms make of it comes after this line was run."""
