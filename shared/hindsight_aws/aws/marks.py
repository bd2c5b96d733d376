"""Marks of waiting work as two small objects in S3: `touched`, whose time is all it says, and `swept`.

Made by runtime.py.  S3 tells when an object was written, so no clock of a process decides whether work was committed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from hindsight_aws.aws.s3_client import s3_client
from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.marks import SWEPT, TOUCHED, Swept
from hindsight_aws.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

REPEATED_AFTER_S: Final = 60
"""A process says at most so often that it may commit work."""
_AFTER_FAILURE_S: Final = 10
_CONNECT_S: Final = 1
_READ_S: Final = 2
_MOST_BYTES: Final = 4_096
_MISSING: Final = frozenset({403, 404})
_log = logging.getLogger(__name__)


class S3WorkMark:
    """WorkMark over the bucket's one object for it."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._next_at: datetime | None = None

    def touch(self) -> None:
        now = self._clock.now()
        # A clock that was set back says nothing of when the mark was made.
        if self._next_at is not None and now < self._next_at <= now + timedelta(seconds=REPEATED_AFTER_S):
            return
        wait_s = REPEATED_AFTER_S
        try:
            with _failures():
                self._client.put_object(Bucket=self._settings.hindsight_marks_set_in, Key=TOUCHED, Body=b"")
        except FilesUnavailable as failed:
            _log.warning("work may be committed that no mark tells of: %s: %s", failed, failed.__cause__)
            wait_s = _AFTER_FAILURE_S
        self._next_at = now + timedelta(seconds=wait_s)

    @cached_property
    def _client(self) -> S3Client:
        return s3_client(self._settings, connect_s=_CONNECT_S, read_s=_READ_S, attempts=1)


class S3SweepMarks:
    """SweepMarks over both objects."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bucket = settings.hindsight_marks_read_in

    def touched_at(self) -> datetime | None:
        with _failures():
            found = self._get(TOUCHED)
        return None if found is None else found[0]

    def swept(self) -> Swept | None:
        with _failures():
            found = self._get(SWEPT)
        return None if found is None else _swept_of(found[1])

    def note(self, swept: Swept) -> None:
        said = {
            "at": swept.at.isoformat(),
            "next_due": None if swept.next_due is None else swept.next_due.isoformat(),
            "settings": swept.settings,
        }
        with _failures():
            self._client.put_object(
                Bucket=self._bucket, Key=SWEPT, Body=json.dumps(said).encode(), ContentType="application/json"
            )

    def _get(self, key: str) -> tuple[datetime, bytes] | None:
        from botocore.exceptions import ClientError

        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=key)
        except ClientError as refused:
            # Who may not list is told of a missing object that access is denied.
            if refused.response["ResponseMetadata"]["HTTPStatusCode"] in _MISSING:
                return None
            raise
        with answer["Body"] as stream:
            return answer["LastModified"], stream.read(_MOST_BYTES)

    @cached_property
    def _client(self) -> S3Client:
        return s3_client(self._settings, connect_s=_CONNECT_S, read_s=_READ_S, attempts=2)


def _swept_of(body: bytes) -> Swept | None:
    try:
        said = json.loads(body)
        due = said["next_due"]
        return Swept(_moment(said["at"]), None if due is None else _moment(due), str(said["settings"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _moment(text: str) -> datetime:
    """A moment on the one time line.  Raises: ValueError for one that names no zone and so cannot be compared."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a moment must name its zone")
    return at


@contextmanager
def _failures() -> Iterator[None]:
    """Raises FilesUnavailable for what S3 refuses or does not answer."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as failed:
        raise FilesUnavailable("a mark could not be read or written") from failed
