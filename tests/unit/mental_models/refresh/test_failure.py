"""What a refresh that gave nothing means: what may pass is tried again, and does not pause the page."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from uuid import UUID

import pytest

from hindsight_aws import errors
from hindsight_aws.errors import HindsightError
from hindsight_aws.mental_models.refresh.failure import MOST_ATTEMPTS, failure_of
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.reflect import Run

NAMES = [name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HindsightError)]
OF_THE_WORKFLOW = ["ReflectTimeout", "Sandbox.Timedout", "States.Timeout", "Lambda.Unknown", "ReflectRunaway"]
PASSING = {
    "WorkDeferred", "ModelThrottled", "LimitReached", "LeaseHeld", "WorkRaced", "VectorsReplaced",
    "DatabaseTooSlow", "DatabaseUnavailable", "NoDatabaseToken",
    "FilesUnavailable", "ModelUnavailable", "SignerUnavailable",
    "ReflectTimeout", "Sandbox.Timedout", "States.Timeout", "Lambda.Unknown",
}  # fmt: skip
NOW = datetime(2026, 11, 30, tzinfo=UTC)
IDS = BankId(UUID(int=1)), RunId(UUID(int=2))
RUN = Run(*IDS, "me", {}, {}, None, 3, "running", None, None, None, 9.0, NOW, NOW, None, "refresh")


@pytest.mark.parametrize("name", [*NAMES, *OF_THE_WORKFLOW])
def test_what_may_pass_is_tried_again_a_few_times_and_pauses_nothing(name: str) -> None:
    first, last = failure_of(RUN, name, "a word", 1), failure_of(RUN, name, "a word", MOST_ATTEMPTS)

    assert (first.again_in is not None, first.pauses) == (name in PASSING, name not in PASSING)
    assert last.again_in is None
