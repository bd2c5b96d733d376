"""Uploaded files in S3: bytes under keys, and presigned addresses to bring them to.  Made by runtime.py.

Honours AWS_ENDPOINT_URL_S3.  The function's role may read, write and delete objects and may not list them, so S3 says
of a missing one that access is denied.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.ports.files import UploadTicket
from hindsight_aws.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CONNECT_S: Final = 3
_READ_S: Final = 30
_MISSING: Final = frozenset({403, 404})


class S3Files:
    """FileStore over one bucket."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bucket = settings.hindsight_bucket

    def put(self, key: str, body: bytes, content_type: str) -> None:
        with _failures("stored"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=content_type)

    def size(self, key: str) -> int | None:
        with suppress(_NotThere), _failures("looked up"):
            return self._client.head_object(Bucket=self._bucket, Key=key)["ContentLength"]
        return None

    def get(self, key: str, at_most: int) -> bytes | None:
        with suppress(_NotThere), _failures("read"):
            answer = self._client.get_object(Bucket=self._bucket, Key=key)
            with answer["Body"] as stream:
                return None if answer["ContentLength"] > at_most else stream.read()
        return None

    def delete(self, key: str) -> None:
        with _failures("deleted"):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def ticket(self, key: str, size: int, content_type: str, seconds: int) -> UploadTicket:
        """Size and type are signed headers: S3 refuses a body that is longer, shorter or called something else."""
        expires_at = datetime.now(UTC) + timedelta(seconds=seconds)
        bound = {"Bucket": self._bucket, "Key": key, "ContentType": content_type, "ContentLength": size}
        url = self._client.generate_presigned_url("put_object", Params=bound, ExpiresIn=seconds)
        return UploadTicket(url, {"content-type": content_type, "content-length": str(size)}, expires_at)

    @cached_property
    def _client(self) -> S3Client:
        import boto3
        from botocore.config import Config

        # One name for a bucket in every region, as the endpoint policy and the presigned address need it; on the
        # laptop the bucket's name cannot become part of a loopback host.
        style: Literal["path", "virtual"] = "path" if self._settings.hindsight_environment == "local" else "virtual"
        config = Config(
            signature_version="s3v4",
            s3={"addressing_style": style, "us_east_1_regional_endpoint": "regional"},
            connect_timeout=_CONNECT_S,
            read_timeout=_READ_S,
            retries={"total_max_attempts": 2, "mode": "standard"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        return boto3.session.Session().client("s3", region_name=self._settings.aws_region, config=config)


class _NotThere(FilesUnavailable):
    """S3 has no such object, or none that this role may know of."""


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Raises what S3's refusals and silences mean."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as refused:
        if refused.response["ResponseMetadata"]["HTTPStatusCode"] in _MISSING:
            raise _NotThere(f"the file could not be {what}: access is denied, or there is none") from refused
        raise FilesUnavailable(f"the file could not be {what}") from refused
    except BotoCoreError as failed:
        raise FilesUnavailable(f"the file could not be {what}") from failed
