"""The one place that maps errors to HTTP: status, body and Retry-After.

Bodies are `{"detail": "<sentence>"}`, or `{"detail": [...]}` for what the request's validation found.  Of a reflect run
that failed routes/reflect.py tells the 429, 503 and 504 of this table, and 500 for the rest of it.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from hindsight_aws import errors
from hindsight_aws.api.echo import harmless, shown
from hindsight_aws.errors import ContentRefused, HindsightError, InvalidField
from hindsight_aws.model.metric import Metric
from hindsight_aws.settings import WrongSetting
from hindsight_aws.telemetry import measure

_LOG = logging.getLogger(__name__)
_MOST_ERRORS = 50
_SHORTEST_WAIT_S = 1
LONGEST_WAIT_S = 60
"""What a caller is told at most, however much later it can go on."""
_RESUMES_IN_S = 5

_STATUS: tuple[tuple[type[HindsightError], int], ...] = (
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.TooLarge, 413),
    (errors.ContentRefused, 422),
    (errors.InvalidField, 422),
    (errors.InvalidRequest, 400),
    (errors.AccessDenied, 403),
    (errors.Unauthenticated, 401),
    (errors.LimitReached, 429),
    (errors.WorkDeferred, 503),
    (errors.WorkSuperseded, 503),
    (errors.WorkRaced, 503),
    (errors.FilesUnavailable, 503),
    (errors.SignerUnavailable, 503),
    (errors.FileUnreadable, 422),
    (errors.DatabaseUnavailable, 503),
    (errors.DatabaseTooSlow, 504),
    (errors.WorkCrashed, 502),
    (errors.ModelUnavailable, 503),
    (errors.ModelError, 502),
    (WrongSetting, 500),
)
_OUR_FAULT = "Internal error; the function's log has the details"


def install(app: FastAPI) -> None:
    """Makes the app answer every error by this module."""
    app.add_exception_handler(HindsightError, _on_known)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_unknown)


def status_of(error: HindsightError) -> int:
    """The HTTP status that stands for an error."""
    return _status_of_kind(type(error))


def status_named(error_name: str) -> int:
    """The HTTP status that stands for an error that rows call so; 500 for a name that is none of ours."""
    kind = errors.kind_named(error_name)
    return 500 if kind is None else _status_of_kind(kind)


def _status_of_kind(kind: type[HindsightError]) -> int:
    return next((status for known, status in _STATUS if issubclass(kind, known)), 500)


def detail(text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """An error answer with one sentence, which repeats no secret that it speaks of."""
    return _answer({"detail": harmless(text)}, status, headers)


def _on_known(_request: Request, error: Exception) -> Response:
    if isinstance(error, InvalidField):
        return _answer({"detail": [_field_error(error)]}, 422, None)
    if isinstance(error, ContentRefused):
        return _answer({"detail": {"violations": [violation.as_json() for violation in error.violations]}}, 422, None)
    if not isinstance(error, HindsightError):
        raise error
    status = status_of(error)
    if status == 401:
        return detail(f"Authentication failed: {error}", status)
    if status >= 500:
        _count(status)
        _LOG.error("answered %d: %s", status, error, exc_info=error)
    if isinstance(error, errors.DatabaseUnavailable):
        # A paused database resumes within half a minute, of which the call has waited most.
        body = {"detail": harmless(str(error)), "code": "database_unavailable"}
        return _answer(body, status, {"Retry-After": str(_RESUMES_IN_S)})
    if status in (429, 503):
        return detail(str(error), status, {"Retry-After": str(_wait_of(error))})
    return detail(_OUR_FAULT if status == 500 else str(error), status)


def _on_invalid(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    found = [_echoed(entry) for entry in error.errors()[:_MOST_ERRORS]]
    return _answer({"detail": found}, 422, None)


def _on_unknown(_request: Request, _error: Exception) -> Response:
    _count(500)
    return detail(_OUR_FAULT, 500)


def _count(status: int) -> None:
    """Counts an answer that is nobody's deliberate one; by 503 a call is deferred."""
    if status != 503:
        measure(Metric.SERVER_ERRORS)


def _wait_of(error: HindsightError) -> int:
    until = error.until if isinstance(error, errors.WorkDeferred) else None
    if until is None:
        return _SHORTEST_WAIT_S
    wait = math.ceil((until - datetime.now(UTC)).total_seconds())
    return min(max(wait, _SHORTEST_WAIT_S), LONGEST_WAIT_S)


def _field_error(error: InvalidField) -> dict[str, object]:
    parts = [int(part) if part.isdigit() else part for part in re.split(r"[.\[\]]+", error.field) if part]
    return {
        "type": "value_error",
        "loc": ["body", *(harmless(part) if isinstance(part, str) else part for part in parts)],
        "msg": harmless(f"Value error, {error}"),
        "input": None,
        "ctx": {"error": {}},
    }


def _echoed(entry: Mapping[str, object]) -> dict[str, object]:
    kept = {key: entry[key] for key in ("type", "loc", "msg", "input", "ctx") if key in entry}
    context = kept.get("ctx")
    if isinstance(context, Mapping) and isinstance(context.get("error"), Exception):
        kept["ctx"] = {**context, "error": {}}
    *_, field = cast("Sequence[object]", kept.get("loc")) or ("",)
    return {key: shown(value, named=str(field) if key == "input" else "") for key, value in kept.items()}


def _answer(body: Mapping[str, object], status: int, headers: Mapping[str, str] | None) -> Response:
    # Escaped to ASCII: what is echoed may hold a lone surrogate, which has no UTF-8 form.
    return Response(json.dumps(body, separators=(",", ":")), status, headers, media_type="application/json")
