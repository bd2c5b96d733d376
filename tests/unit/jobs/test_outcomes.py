"""Every error the product knows of says what becomes of the work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hindsight_aws import errors
from hindsight_aws.jobs.outcomes import Outcome, outcome_of

_PASSING = {
    "DatabaseTooSlow",
    "DatabaseUnavailable",
    "NoDatabaseToken",
    "FilesUnavailable",
    "ModelUnavailable",
    "SignerUnavailable",
    "VectorsReplaced",
    "WorkRaced",
}
_DONE = {"WorkDeferred", "ModelThrottled", "LimitReached", "LeaseHeld", "WorkSuperseded", "WorkCancelled"}
_OF_SOMETHING = {errors.InvalidField, errors.FileUnreadable}


def _kinds(kind: type[errors.HindsightError]) -> Iterator[type[errors.HindsightError]]:
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == errors.__name__:
            yield from _kinds(each)


def _made(kind: type[errors.HindsightError]) -> errors.HindsightError:
    if kind is errors.ContentRefused:
        return errors.ContentRefused(())
    return kind("subject", "problem") if kind in _OF_SOMETHING else kind("message")


@pytest.mark.parametrize("kind", list(_kinds(errors.HindsightError)), ids=lambda kind: kind.__name__)
def test_an_error_has_its_outcome(kind: type[errors.HindsightError]) -> None:
    error = _made(kind)

    is_well = kind.__name__ in _PASSING | _DONE
    assert errors.may_pass(kind) is (kind.__name__ in _PASSING)
    assert outcome_of(error) is (Outcome.DONE if is_well else Outcome.GIVEN_UP)
