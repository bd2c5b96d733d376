"""Requests become payload-v2 events and answers become responses, without losing a byte."""

import base64
import json

import pytest

from infra.local.gateway.events import MalformedAnswer, decode_answer, encode_event
from infra.local.gateway.routes import RouteMatch
from infra.local.http import HttpRequest

MATCH = RouteMatch("ANY /docs/{id}", "f", (("id", "a/b"),))


def request(
    body: bytes = b"", headers: tuple[tuple[str, str], ...] = (), query: str = "", path: str = "/docs/a%2Fb"
) -> HttpRequest:
    return HttpRequest("PUT", path, query, headers, body, "127.0.0.1")


def test_the_raw_path_is_neither_decoded_nor_normalised() -> None:
    event = json.loads(encode_event(request(path="/docs//a%2Fb/../%20"), MATCH))

    assert event["rawPath"] == "/docs//a%2Fb/../%20"
    assert event["pathParameters"] == {"id": "a/b"}
    assert event["requestContext"]["http"]["method"] == "PUT"
    assert event["requestContext"]["stage"] == "$default"


def test_repeated_values_are_joined_and_cookies_listed() -> None:
    headers = (("accept", "a"), ("accept", "b"), ("cookie", "x=1; y=2"), ("cookie", "z=3"))

    event = json.loads(encode_event(request(headers=headers, query="tag=a&tag=b&empty="), MATCH))

    assert event["headers"] == {"accept": "a,b", "x-forwarded-proto": "http"}
    assert event["cookies"] == ["x=1", "y=2", "z=3"]
    assert event["queryStringParameters"] == {"tag": "a,b", "empty": ""}
    assert event["rawQueryString"] == "tag=a&tag=b&empty="


def test_the_protocol_is_the_gateways_own_whatever_the_caller_says() -> None:
    event = json.loads(encode_event(request(headers=(("x-forwarded-proto", "https"),)), MATCH))

    assert event["headers"] == {"x-forwarded-proto": "http"}


@pytest.mark.parametrize(
    ("body", "text", "is_base64"),
    [
        ("naïve 記憶".encode(), "naïve 記憶", False),
        (b"\xff\xfe\x00", base64.b64encode(b"\xff\xfe\x00").decode(), True),
    ],
)
def test_a_body_that_is_no_text_travels_as_base64(body: bytes, text: str, is_base64: bool) -> None:
    event = json.loads(encode_event(request(body=body), MATCH))

    assert (event["body"], event["isBase64Encoded"]) == (text, is_base64)


def test_an_absent_body_is_absent_from_the_event() -> None:
    assert "body" not in json.loads(encode_event(request(), MATCH))


def test_an_answer_keeps_status_headers_cookies_and_bytes() -> None:
    body = base64.b64encode(b"\x00\xff").decode()
    headers = {"Retry-After": 5, "Content-Length": "999"}
    answer = {"statusCode": 503, "headers": headers, "cookies": ["a=1"], "body": body, "isBase64Encoded": True}

    response = decode_answer(json.dumps(answer).encode())

    assert response.status == 503
    assert response.body == b"\x00\xff"
    assert response.headers == (("retry-after", "5"), ("set-cookie", "a=1"))


def test_an_answer_without_a_status_is_the_body() -> None:
    response = decode_answer(b'{"ok": true}')

    assert (response.status, json.loads(response.body)) == (200, {"ok": True})


@pytest.mark.parametrize(
    "answer",
    [
        b"not json",
        b'{"statusCode": "x"}',
        b'{"statusCode": 99}',
        b'{"statusCode": 200, "body": 1}',
        b'{"statusCode": 200, "body": "!", "isBase64Encoded": true}',
        b'{"statusCode": 200, "headers": []}',
    ],
)
def test_an_answer_that_is_no_response_is_malformed(answer: bytes) -> None:
    with pytest.raises(MalformedAnswer):
        decode_answer(answer)


def test_a_header_cannot_smuggle_a_second_one() -> None:
    answer = {"statusCode": 200, "headers": {"x-a": "1\r\nx-b: 2"}}

    response = decode_answer(json.dumps(answer).encode())

    assert response.encode(head_only=False, keep_alive=True).count(b"\r\nx-b") == 0
