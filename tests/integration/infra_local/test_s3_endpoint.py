"""The S3 endpoint under the product's adapter, a real client and presigned addresses."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from hindsight_aws.aws.s3 import S3Files
from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.ports.files import FileStore
from hindsight_aws.settings import Settings
from infra.local.http import HttpRequest
from infra.local.s3 import ObjectFolder
from infra.local.s3.errors import S3Error
from infra.local.s3.signature import check_signature
from infra.local.stack import LocalStack
from tests.support.files import MemoryFiles

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BUCKET = "files"
HOSTILE_KEYS = ["a/../../b", "..", "täst/%2F %20+x", "\u202ekey", "a" * 1024, "a//b", "?x=1&y#z"]


def made_client(url: str, secret: str = "local") -> "S3Client":
    return boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key=secret,
        config=Config(
            retries={"total_max_attempts": 1},
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )


@pytest.fixture(scope="module")
def s3(shared_stack: LocalStack) -> "Iterator[S3Client]":
    client = made_client(shared_stack.s3_url)
    yield client
    client.close()


@pytest.fixture
def files(shared_stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Files]:
    """The product's adapter, configured as a function of the local stack is."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", shared_stack.s3_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    settings = Settings().model_copy(update={"hindsight_environment": "local", "hindsight_bucket": BUCKET})
    made = S3Files(settings)
    yield made
    made._client.close()


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return str(error.value.response["Error"]["Code"])


@pytest.mark.parametrize("kind", ["s3", "memory"])
def test_a_file_comes_back_as_it_was_stored_and_is_gone_once_deleted(files: S3Files, kind: str) -> None:
    """The fake that other tests store in keeps the same promises."""
    assert_keeps_its_promises(files if kind == "s3" else MemoryFiles())


def assert_keeps_its_promises(files: FileStore) -> None:
    """What every FileStore does."""
    key, body = f"k/{uuid4()}", bytes(range(256)) * 4_000

    files.put(key, body, "application/pdf")

    assert files.size(key) == len(body)
    assert files.get(key, len(body)) == body
    assert files.get(key, len(body) - 1) is None
    files.delete(key)
    files.delete(key)
    assert files.size(key) is None
    assert files.get(key, 10) is None


def test_a_store_that_does_not_answer_is_named_as_passing(files: S3Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    lost = S3Files(Settings().model_copy(update={"hindsight_environment": "local", "hindsight_bucket": BUCKET}))

    with pytest.raises(FilesUnavailable):
        lost.put("k", b"x", "text/plain")

    lost._client.close()


def test_a_ticket_takes_the_announced_file_and_no_other(files: S3Files) -> None:
    key = f"k/{uuid4()}"
    ticket = files.ticket(key, 5, "text/plain", 60)

    longer = httpx.put(ticket.url, content=b"hello world", headers={"content-type": "text/plain"})
    other = httpx.put(ticket.url, content=b"hello", headers={"content-type": "text/html"})
    elsewhere = httpx.put(ticket.url.replace(key, f"{key}x"), content=b"hello", headers=ticket.headers)
    reading = httpx.get(ticket.url)
    right = httpx.put(ticket.url, content=b"hello", headers=ticket.headers)

    assert [answer.status_code for answer in (longer, other, elsewhere, reading)] == [403] * 4
    assert right.status_code == 200
    assert files.get(key, 5) == b"hello"
    assert timedelta(seconds=50) < ticket.expires_at - datetime.now(UTC) <= timedelta(seconds=60)


def test_a_ticket_is_good_for_its_time_only(files: S3Files) -> None:
    ticket = files.ticket("k", 5, "text/plain", 60)
    url = httpx.URL(ticket.url)
    headers = (("host", url.netloc.decode()), *ticket.headers.items())
    request = HttpRequest("PUT", url.raw_path.decode().partition("?")[0], url.query.decode(), headers, b"hello", "")

    check_signature(request)

    with pytest.raises(S3Error, match="expired"):
        check_signature(request, datetime.now(UTC) + timedelta(seconds=61))


@pytest.mark.parametrize("key", HOSTILE_KEYS)
def test_no_key_leads_out_of_its_bucket(s3: "S3Client", shared_stack: LocalStack, key: str) -> None:
    """[R020] Whatever a key holds, it names one object of the bucket."""
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"x")

    assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"x"
    assert key in shared_stack.stored_files()
    s3.delete_object(Bucket=BUCKET, Key=key)
    assert key not in shared_stack.stored_files()


def test_a_wrong_secret_and_an_unsigned_call_are_refused(s3: "S3Client", shared_stack: LocalStack) -> None:
    stranger = made_client(shared_stack.s3_url, secret="other")

    assert refused(stranger.put_object, Bucket=BUCKET, Key="k", Body=b"x") == "SignatureDoesNotMatch"
    assert httpx.get(f"{shared_stack.s3_url}/{BUCKET}/k").status_code == 403
    stranger.close()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        pytest.param("list_objects_v2", {}, id="listing"),
        pytest.param("create_multipart_upload", {"Key": "k"}, id="multipart"),
        pytest.param("put_object_tagging", {"Key": "k", "Tagging": {"TagSet": []}}, id="tags"),
        pytest.param("get_object", {"Key": "k", "Range": "bytes=0-1"}, id="range"),
        pytest.param("put_object", {"Key": "k", "Body": b"x", "Metadata": {"a": "b"}}, id="metadata"),
        pytest.param("copy_object", {"Key": "k", "CopySource": f"{BUCKET}/j"}, id="copy"),
    ],
)
def test_what_is_not_implemented_is_refused(s3: "S3Client", method: str, arguments: dict[str, Any]) -> None:
    assert refused(getattr(s3, method), Bucket=BUCKET, **arguments) == "NotImplemented"


def test_an_unknown_bucket_has_no_objects(s3: "S3Client") -> None:
    assert refused(s3.put_object, Bucket="other", Key="k", Body=b"x") == "NoSuchBucket"
    assert refused(s3.get_object, Bucket=BUCKET, Key=str(uuid4())) == "NoSuchKey"


def test_objects_expire_with_their_days(tmp_path: Any) -> None:
    objects = ObjectFolder(tmp_path)
    objects.create_bucket(BUCKET)
    for key in ("old", "new", "kept/old"):
        objects.put(BUCKET, key, b"x", "text/plain")
    old = [file for file in (tmp_path / BUCKET).iterdir() if b'old"' in file.read_bytes()]
    eight_days_ago = time.time() - 8 * 24 * 3600
    for file in old:
        os.utime(file, (eight_days_ago, eight_days_ago))

    objects.expire(BUCKET, 7, "kept/")

    assert objects.keys(BUCKET) == ["kept/old", "new"]


def test_objects_survive_a_restart(tmp_path: Any) -> None:
    first = ObjectFolder(tmp_path)
    first.create_bucket(BUCKET)
    first.put(BUCKET, "k", b"line\nline", "text/plain")

    second = ObjectFolder(tmp_path)
    second.create_bucket(BUCKET)

    found = second.get(BUCKET, "k")
    assert found is not None
    assert (found.body, found.content_type, found.size) == (b"line\nline", "text/plain", 9)
