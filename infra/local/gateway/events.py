"""API Gateway's payload format 2.0: HTTP request to event, handler's answer to HTTP response. Called by the gateway.

The raw path stays as it came (`%2F` too): clients put slashes into document ids.
"""

import base64
import binascii
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from infra.local.gateway.routes import RouteMatch
from infra.local.http import HttpRequest, HttpResponse

_API_ID: Final = "local"
_ACCOUNT: Final = "000000000000"
_OWN_HEADERS: Final = frozenset({"content-length", "connection", "transfer-encoding", "keep-alive"})

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


class MalformedAnswer(ValueError):
    """The handler answered something that is no HTTP response."""


@dataclass(frozen=True, slots=True)
class _Fields:
    headers: dict[str, str]
    cookies: list[str]


def encode_event(request: HttpRequest, match: RouteMatch, claims: Mapping[str, str] | None = None) -> bytes:
    """The event a function receives for a request, as JSON; with the claims that an authorizer verified."""
    fields = _fold_headers(request)
    event: dict[str, Json] = {
        "version": "2.0",
        "routeKey": match.key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": dict(fields.headers),
        "requestContext": _context(request, match, fields.headers) | _authorizer(claims),
        "isBase64Encoded": False,
    }
    if fields.cookies:
        event["cookies"] = list(fields.cookies)
    if request.query:
        event["queryStringParameters"] = dict(_fold_query(request.query))
    if match.parameters:
        event["pathParameters"] = dict(match.parameters)
    if request.body:
        event["body"], event["isBase64Encoded"] = _encode_body(request.body)
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


def decode_answer(payload: bytes) -> HttpResponse:
    """The HTTP response a handler's answer stands for.

    An answer without `statusCode` is the body itself, with 200, as API Gateway has it.

    Raises: MalformedAnswer.
    """
    try:
        answer: Json = json.loads(payload)
    except ValueError as error:
        raise MalformedAnswer("the answer is not JSON") from error
    if not isinstance(answer, dict) or "statusCode" not in answer:
        return HttpResponse(200, json.dumps(answer).encode())
    status = answer["statusCode"]
    if isinstance(status, str) and status.isdigit():
        status = int(status)
    if not isinstance(status, int) or not 200 <= status <= 599:
        raise MalformedAnswer("statusCode is not an HTTP status")
    return HttpResponse(status, _decode_body(answer), tuple(_answer_headers(answer)))


def _fold_headers(request: HttpRequest) -> _Fields:
    headers: dict[str, str] = {}
    cookies: list[str] = []
    for name, value in request.headers:
        if name == "cookie":
            cookies.extend(part.strip() for part in value.split(";") if part.strip())
        else:
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    headers["x-forwarded-proto"] = "http"  # whatever a caller says: redirects lead where this gateway listens
    return _Fields(headers, cookies)


def _fold_query(query: str) -> dict[str, str]:
    folded: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        folded[name] = f"{folded[name]},{value}" if name in folded else value
    return folded


def _authorizer(claims: Mapping[str, str] | None) -> dict[str, Json]:
    return {} if claims is None else {"authorizer": {"jwt": {"claims": dict(claims), "scopes": None}}}


def _context(request: HttpRequest, match: RouteMatch, headers: dict[str, str]) -> dict[str, Json]:
    now = time.time()
    return {
        "accountId": _ACCOUNT,
        "apiId": _API_ID,
        "domainName": headers.get("host", ""),
        "domainPrefix": _API_ID,
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": "HTTP/1.1",
            "sourceIp": request.peer,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": match.key,
        "stage": "$default",
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "timeEpoch": int(now * 1000),
    }


def _encode_body(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True


def _decode_body(answer: dict[str, Json]) -> bytes:
    body = answer.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        raise MalformedAnswer("body is not a string")
    if answer.get("isBase64Encoded") is not True:
        return body.encode(errors="replace")
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise MalformedAnswer("body is not base64") from error


def _answer_headers(answer: dict[str, Json]) -> list[tuple[str, str]]:
    headers = {} if answer.get("headers") is None else answer["headers"]
    cookies = [] if answer.get("cookies") is None else answer["cookies"]
    if not isinstance(headers, dict) or not isinstance(cookies, list):
        raise MalformedAnswer("headers or cookies have the wrong shape")
    lines = [(name.lower(), str(value)) for name, value in headers.items() if name.lower() not in _OWN_HEADERS]
    lines.extend(("set-cookie", str(cookie)) for cookie in cookies)
    return [(name, value.replace("\r", " ").replace("\n", " ")) for name, value in lines]
