"""A reflect run that failed is told by the table of errors, or as a reflect without an answer."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from hindsight_aws import errors
from hindsight_aws.api.routes.reflect import told
from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.reflect import Run
from hindsight_aws.settings import Settings

NAMES = [name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HindsightError)]
PASSING = {
    "LimitReached": 429,
    "WorkDeferred": 503, "ModelThrottled": 503, "LeaseHeld": 503, "WorkRaced": 503, "VectorsReplaced": 503,
    "WorkSuperseded": 503, "WorkCancelled": 503,
    "ModelUnavailable": 503, "FilesUnavailable": 503, "SignerUnavailable": 503, "DatabaseUnavailable": 503,
    "NoDatabaseToken": 503,
    "DatabaseTooSlow": 504,
}  # fmt: skip
OF_THE_WORKFLOW = {
    "ReflectTimeout": 504, "States.Timeout": 504, "Sandbox.Timedout": 504,
    "ReflectRunaway": 500, "Lambda.Unknown": 500,
}  # fmt: skip
SETTINGS = Settings(hindsight_environment="local", hindsight_reflect_retry_after_seconds=2)
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def _failed(error: str) -> Run:
    ids = BankId(UUID(int=1)), RunId(UUID(int=2))
    return Run(*ids, "me", {}, {}, None, 3, "failed", None, error, "a word", 9.0, NOW, NOW, NOW)


@pytest.mark.parametrize("name", [*NAMES, *OF_THE_WORKFLOW])
def test_a_run_that_failed_is_told_by_its_error(name: str) -> None:
    answer = told(_failed(name), SETTINGS)

    assert answer.status_code == {**PASSING, **OF_THE_WORKFLOW}.get(name, 500)
    assert answer.headers.get("retry-after") == {429: "60", 503: "2"}.get(answer.status_code)
    assert json.loads(bytes(answer.body))["operation_id"] == str(UUID(int=2))
