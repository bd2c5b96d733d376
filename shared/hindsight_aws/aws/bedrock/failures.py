"""Turns what boto3 raises into the product's own errors.

Called by the adapters beside it; calls nothing. Every fault of the wire has exactly one place in `errors`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as WireConnectionError
from botocore.parsers import ResponseParserError

from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelReplyMalformed,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.ports.model_gateway import CallStatus

WIRE_FAULTS = (ClientError, BotoCoreError, ResponseParserError)
"""All that a boto3 call raises when it does not answer."""

_NO_ANSWER = (HTTPClientError, WireConnectionError, IncompleteReadError, ResponseParserError)
_THROTTLED = frozenset(
    {"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException", "ModelNotReadyException"}
)
_PASSING = frozenset(
    {
        "BadGatewayException",
        "ConflictException",
        "DependencyFailedException",
        "ExpiredTokenException",
        "InternalServerException",
        "ModelErrorException",
        "ModelTimeoutException",
        "RequestTimeout",
        "ServiceUnavailableException",
    }
)
_TOO_LONG = re.compile(
    r"too long|too large|too many (input )?tokens|context (window|length)|maximum (context|number of tokens)",
    re.IGNORECASE,
)
_BLOCKED = re.compile(r"content (filter|polic)|blocked by|guardrail", re.IGNORECASE)
_REASONS = (
    (_TOO_LONG, "the input is too long for the model"),
    (_BLOCKED, "the content is not allowed"),
    (re.compile(r"model identifier|model id", re.IGNORECASE), "the model id is not known in this region"),
    (re.compile(r"on-demand throughput|inference profile", re.IGNORECASE), "the model needs an inference profile"),
    (re.compile(r"not authorized|access to the model", re.IGNORECASE), "the function's role may not use the model"),
    (re.compile(r"escaped", re.IGNORECASE), "text is not escaped in its data block"),
)


def failure_of(fault: BaseException) -> HindsightError:
    """The error to raise for a fault of `WIRE_FAULTS`, to be raised `from None`.

    Its message reaches logs and the rows of operations, so it never repeats what the provider or the client library
    wrote: both quote the request, which is memory text. It names codes, and the reason if it is one of those we know.
    """
    if isinstance(fault, ClientError):
        return _from_answer(fault)
    if isinstance(fault, _NO_ANSWER):
        return ModelUnavailable(f"no usable answer from the model endpoint: {type(fault).__name__}")
    return ModelDenied(f"the model call could not be made: {type(fault).__name__}")


def _from_answer(fault: ClientError) -> HindsightError:
    error = fault.response.get("Error", {})
    code, text = error.get("Code", ""), error.get("Message", "")
    status = fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    about = _about(fault, code, text)
    if code in _THROTTLED or status == 429:
        return ModelThrottled(about, _retry_at(fault))
    if code in _PASSING or status >= 500 or status == 408:
        return ModelUnavailable(about)
    if code == "ValidationException" and _TOO_LONG.search(text):
        return ModelInputTooLong(about)
    if code == "ValidationException" and _BLOCKED.search(text):
        return ModelRefused(about)
    return ModelDenied(about)


def _about(fault: ClientError, code: str, text: str) -> str:
    """The error code, the reason where it is known, and the request's id, under which the provider keeps the rest."""
    reason = next((words for pattern, words in _REASONS if pattern.search(text)), "")
    request_id = fault.response.get("ResponseMetadata", {}).get("RequestId", "")
    known_as = f" (request {request_id})" if request_id else ""
    return f"{code or 'an error without a code'}{': ' if reason else ''}{reason}{known_as}"


def _retry_at(fault: ClientError) -> datetime | None:
    after = fault.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", "")
    return datetime.now(UTC) + timedelta(seconds=int(after)) if after.isdecimal() else None


def status_of(failure: HindsightError) -> CallStatus:
    """The ledger's word for that failure."""
    words: tuple[tuple[type[HindsightError], CallStatus], ...] = (
        (ModelThrottled, "throttled"),
        (ModelRefused, "refused"),
        (ModelDenied, "denied"),
        (ModelReplyMalformed, "malformed"),
        (ModelReplyTruncated, "truncated"),
    )
    return next((word for kind, word in words if isinstance(failure, kind)), "unavailable")
