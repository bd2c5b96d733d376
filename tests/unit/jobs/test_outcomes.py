"""Every error the product knows of tells the queue something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hindsight_aws import errors
from hindsight_aws.jobs.outcomes import Outcome, outcome_of

_LATER = {"DatabaseTooSlow", "DatabaseUnavailable", "ModelUnavailable", "WorkRaced"}
_DONE = {"WorkDeferred", "ModelThrottled", "LeaseHeld", "WorkSuperseded"}


def _kinds(kind: type[errors.HindsightError]) -> Iterator[type[errors.HindsightError]]:
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == errors.__name__:
            yield from _kinds(each)


@pytest.mark.parametrize("kind", list(_kinds(errors.HindsightError)), ids=lambda kind: kind.__name__)
def test_an_error_has_its_outcome(kind: type[errors.HindsightError]) -> None:
    error = kind("field", "problem") if kind is errors.InvalidField else kind("message")

    expected = Outcome.LATER if kind.__name__ in _LATER else Outcome.DONE if kind.__name__ in _DONE else Outcome.PARK
    assert outcome_of(error) is expected
