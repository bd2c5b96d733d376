"""Signature version 4 of S3, in the header and in a presigned address. Called by the endpoint before it does anything.

A presigned address is good for the method, the headers and the time it was made for, and for nothing else. The secret
of whoever runs the stack with real credentials is not known here: his signatures are taken as they come, his times and
headers are not.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, quote

from infra.local.http import HttpRequest
from infra.local.s3.errors import S3Error, denied, not_implemented

ALGORITHM: Final = "AWS4-HMAC-SHA256"
KNOWN_SECRETS: Final[Mapping[str, str]] = {"local": "local"}
_UNSIGNED: Final = "UNSIGNED-PAYLOAD"
_TIME: Final = "%Y%m%dT%H%M%SZ"
_LONGEST: Final = 7 * 24 * 3600
_SKEW: Final = timedelta(minutes=15)
_AUTHORIZATION: Final = re.compile(
    rf"{ALGORITHM} Credential=(?P<credential>[^,\s]+),\s*"
    r"SignedHeaders=(?P<headers>[^,\s]+),\s*Signature=(?P<signature>\w+)"
)


@dataclass(frozen=True, slots=True)
class _Signed:
    """What a request says of its own signature."""

    credential: str
    headers: Sequence[str]
    signature: str
    moment: str
    payload: str
    query: Sequence[tuple[str, str]]


def check_signature(request: HttpRequest, now: datetime | None = None) -> None:
    """Lets a request pass that is signed for what it is. Raises: S3Error."""
    moment = datetime.now(UTC) if now is None else now
    pairs = parse_qsl(request.query, keep_blank_values=True)
    query = dict(pairs)
    if "X-Amz-Signature" in query:
        signed = _presigned(query, pairs, moment)
    elif request.header("authorization") is not None:
        signed = _in_header(request, pairs, moment)
    else:
        raise denied("Anonymous requests are refused.")
    unsigned = {"host"} - set(signed.headers)
    if unsigned:
        raise denied("The host must be signed.")
    access_key, *scope = signed.credential.split("/")
    if len(scope) != 4 or scope[2:] != ["s3", "aws4_request"] or not signed.moment.startswith(scope[0]):
        raise denied("The credential's scope is malformed.")
    secret = KNOWN_SECRETS.get(access_key)
    if secret is not None and not hmac.compare_digest(_signature(request, signed, scope, secret), signed.signature):
        raise S3Error(
            HTTPStatus.FORBIDDEN,
            "SignatureDoesNotMatch",
            "The request signature we calculated does not match the signature you provided.",
        )


def _presigned(query: Mapping[str, str], pairs: Sequence[tuple[str, str]], now: datetime) -> _Signed:
    try:
        made = datetime.strptime(query["X-Amz-Date"], _TIME).replace(tzinfo=UTC)
        seconds = int(query["X-Amz-Expires"])
        headers = query["X-Amz-SignedHeaders"].split(";")
        signed = _Signed(
            query["X-Amz-Credential"],
            headers,
            query["X-Amz-Signature"],
            query["X-Amz-Date"],
            _UNSIGNED,
            [pair for pair in pairs if pair[0] != "X-Amz-Signature"],
        )
    except (KeyError, ValueError):
        raise denied("The presigned address is incomplete.") from None
    if query.get("X-Amz-Algorithm") != ALGORITHM or not 1 <= seconds <= _LONGEST:
        raise denied("The presigned address is malformed.")
    if now > made + timedelta(seconds=seconds) or now < made - _SKEW:
        raise denied("Request has expired")
    return signed


def _in_header(request: HttpRequest, pairs: Sequence[tuple[str, str]], now: datetime) -> _Signed:
    found = _AUTHORIZATION.fullmatch(request.header("authorization") or "")
    moment, payload = request.header("x-amz-date") or "", request.header("x-amz-content-sha256") or ""
    if found is None:
        raise denied("The authorization header is malformed.")
    if payload.startswith("STREAMING-"):
        raise not_implemented("bodies signed in pieces")
    if payload not in {_UNSIGNED, hashlib.sha256(request.body).hexdigest()}:
        raise S3Error(HTTPStatus.BAD_REQUEST, "XAmzContentSHA256Mismatch", "The body is not the one that was signed.")
    try:
        made = datetime.strptime(moment, _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise denied("The request has no date.") from None
    if abs(now - made) > _SKEW:
        raise S3Error(HTTPStatus.FORBIDDEN, "RequestTimeTooSkewed", "The request is too old, or from the future.")
    return _Signed(found["credential"], found["headers"].split(";"), found["signature"], moment, payload, pairs)


def _signature(request: HttpRequest, signed: _Signed, scope: Sequence[str], secret: str) -> str:
    query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in sorted(signed.query))
    headers = "".join(f"{name}:{' '.join((request.header(name) or '').split())}\n" for name in signed.headers)
    canonical = [request.method, request.path, query, headers, ";".join(signed.headers), signed.payload]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in scope:
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, "\n".join([ALGORITHM, signed.moment, "/".join(scope), digest]).encode(), "sha256").hex()


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")
