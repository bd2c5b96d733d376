"""Every error the product knows of tells the queue something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hindsight_aws import errors
from hindsight_aws.jobs.outcomes import Outcome, outcome_of

_LATER = {"DatabaseTooSlow", "DatabaseUnavailable", "FilesUnavailable", "ModelUnavailable", "WorkRaced"}
_DONE = {"WorkDeferred", "ModelThrottled", "LeaseHeld", "WorkSuperseded", "WorkCancelled"}
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

    expected = Outcome.LATER if kind.__name__ in _LATER else Outcome.DONE if kind.__name__ in _DONE else Outcome.PARK
    assert outcome_of(error) is expected
