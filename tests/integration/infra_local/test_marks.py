"""Marks of waiting work in the local bucket, under the product's adapters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_aws.aws.marks import REPEATED_AFTER_S, S3SweepMarks, S3WorkMark
from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.ports.marks import SWEPT, TOUCHED, Swept
from hindsight_aws.settings import Settings
from infra.local.stack import LocalStack
from infra.topology import TOPOLOGY
from tests.support.consolidation import StillClock


@pytest.fixture
def settings(shared_stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """As a function's of a stack whose database pauses."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", shared_stack.s3_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    assert TOPOLOGY.bucket is not None
    bucket = TOPOLOGY.bucket.name
    return Settings(hindsight_environment="local", hindsight_marks_set_in=bucket, hindsight_marks_read_in=bucket)


@pytest.fixture
def marks(settings: Settings) -> Iterator[S3SweepMarks]:
    made = S3SweepMarks(settings)
    yield made
    made._client.close()


def test_a_mark_is_set_at_most_once_a_minute_and_tells_when(settings: Settings, marks: S3SweepMarks) -> None:
    clock = StillClock()
    mark = S3WorkMark(settings, clock)
    before = datetime.now(UTC)

    mark.touch()
    first = marks.touched_at()
    bucket = mark._settings.hindsight_marks_set_in
    mark._client.delete_object(Bucket=bucket, Key=TOUCHED)
    mark.touch()
    repeated = marks.touched_at()
    clock.time += timedelta(seconds=REPEATED_AFTER_S)
    mark.touch()
    again = marks.touched_at()
    mark._client.close()

    assert first is not None
    assert before - timedelta(seconds=1) <= first <= datetime.now(UTC)
    assert repeated is None
    assert again is not None


def test_what_a_sweep_leaves_is_read_as_it_was_written(marks: S3SweepMarks) -> None:
    at = datetime(2026, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC)

    for due in (at + timedelta(hours=3), None):
        marks.note(Swept(at, due, "digest"))
        assert marks.swept() == Swept(at, due, "digest")

    marks._client.put_object(Bucket=marks._bucket, Key=SWEPT, Body=b'{"at": 1}')
    assert marks.swept() is None


def test_a_bucket_that_does_not_answer_stops_nobody(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    mark, marks = S3WorkMark(settings, StillClock()), S3SweepMarks(settings)

    mark.touch()
    with pytest.raises(FilesUnavailable):
        marks.touched_at()

    assert "no mark tells of" in caplog.text
    for made in (mark, marks):
        made._client.close()
