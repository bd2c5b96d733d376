"""Uploaded files in S3: bytes under keys, and presigned addresses to bring them to.  Made by runtime.py.

Honours AWS_ENDPOINT_URL_S3.  The function's role may read, write and delete objects and may not list them, so S3 says
of a missing one that access is denied.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import IO, TYPE_CHECKING, Final

from hindsight_aws.aws.s3_client import s3_client
from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.ports.files import UploadTicket
from hindsight_aws.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CONNECT_S: Final = 3
_READ_S: Final = 30
_PIECE: Final = 1024 * 1024
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

    def put_file(self, key: str, file: IO[bytes], content_type: str) -> None:
        file.seek(0)
        with _failures("stored"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=file, ContentType=content_type)

    def fetch(self, key: str, file: IO[bytes], at_most: int) -> bool:
        with suppress(_NotThere), _failures("read"):
            answer = self._client.get_object(Bucket=self._bucket, Key=key)
            with answer["Body"] as stream:
                if answer["ContentLength"] > at_most:
                    return False
                while piece := stream.read(_PIECE):
                    file.write(piece)
            return True
        return False

    def address(self, key: str, filename: str, seconds: int) -> str:
        """The name is a signed parameter that S3 answers with as a header."""
        named = {"ResponseContentDisposition": f'attachment; filename="{filename}"'}
        bound = {"Bucket": self._bucket, "Key": key, **named}
        return self._client.generate_presigned_url("get_object", Params=bound, ExpiresIn=seconds)

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
        return s3_client(self._settings, connect_s=_CONNECT_S, read_s=_READ_S, attempts=2)


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
