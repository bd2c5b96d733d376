"""Files in S3: the addresses that are handed out, and what S3's answers mean."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from hindsight_aws.aws.s3 import S3Files
from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.settings import Settings

_KEY = "tenants/t/banks/b/id"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Files]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "made-up")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    settings = Settings().model_copy(update={"hindsight_bucket": "bucket", "aws_region": "us-east-1"})
    made = S3Files(settings)
    yield made
    made._client.close()


@pytest.fixture
def stub(files: S3Files) -> Iterator[Stubber]:
    with Stubber(files._client) as stubber:
        yield stubber


def test_an_address_is_the_regions_own_and_binds_host_size_and_type(files: S3Files) -> None:
    ticket = files.ticket(_KEY, 31, "application/pdf", 900)

    url = urlsplit(ticket.url)
    query = parse_qs(url.query)
    assert (url.scheme, url.netloc, url.path) == ("https", "bucket.s3.us-east-1.amazonaws.com", f"/{_KEY}")
    assert query["X-Amz-SignedHeaders"] == ["content-length;content-type;host"]
    assert query["X-Amz-Expires"] == ["900"]
    assert ticket.headers == {"content-type": "application/pdf", "content-length": "31"}


@pytest.mark.parametrize("status", [403, 404])
def test_a_role_that_may_not_list_is_told_of_a_missing_file_that_it_is_denied(
    files: S3Files, stub: Stubber, status: int
) -> None:
    for method in ("head_object", "get_object"):
        stub.add_client_error(method, service_error_code="x", http_status_code=status)

    assert files.size(_KEY) is None
    assert files.get(_KEY, 10) is None


@pytest.mark.parametrize("method", ["head_object", "get_object", "put_object", "delete_object"])
def test_a_store_in_trouble_is_a_passing_fault(files: S3Files, stub: Stubber, method: str) -> None:
    stub.add_client_error(method, service_error_code="SlowDown", http_status_code=503)
    calls: dict[str, Callable[[], object]] = {
        "head_object": lambda: files.size(_KEY),
        "get_object": lambda: files.get(_KEY, 10),
        "put_object": lambda: files.put(_KEY, b"x", "text/plain"),
        "delete_object": lambda: files.delete(_KEY),
    }

    with pytest.raises(FilesUnavailable):
        calls[method]()


def test_an_archive_goes_into_a_file_piece_by_piece_unless_it_is_too_large(files: S3Files, stub: Stubber) -> None:
    held = io.BytesIO()
    for _ in range(2):
        body = StreamingBody(io.BytesIO(b"archive"), 7)
        stub.add_response("get_object", {"Body": body, "ContentLength": 7})

    assert files.fetch(_KEY, held, 7)
    assert not files.fetch(_KEY, io.BytesIO(), 6)
    assert held.getvalue() == b"archive"


def test_an_address_to_download_from_says_what_the_file_is_called(files: S3Files) -> None:
    query = parse_qs(urlsplit(files.address(_KEY, "bank.zip", 900)).query)

    assert query["response-content-disposition"] == ['attachment; filename="bank.zip"']
    assert (query["X-Amz-Expires"], query["X-Amz-SignedHeaders"]) == (["900"], ["host"])


def test_a_store_that_refuses_to_take_a_file_is_a_fault_too(files: S3Files, stub: Stubber) -> None:
    stub.add_client_error("put_object", service_error_code="AccessDenied", http_status_code=403)

    with pytest.raises(FilesUnavailable):
        files.put(_KEY, b"x", "text/plain")
