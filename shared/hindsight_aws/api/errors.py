"""The one place that maps errors to HTTP: status, body and Retry-After.

Bodies are `{"detail": "<sentence>"}`, or `{"detail": [...]}` for what the request's validation found.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from hindsight_aws import errors
from hindsight_aws.errors import HindsightError, InvalidField
from hindsight_aws.settings import WrongSetting

_LOG = logging.getLogger(__name__)
_LONGEST_ECHO = 1_000
_MOST_ECHOED = 20
_DEEPEST_ECHO = 6
_MOST_ERRORS = 50
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 1, 60

_STATUS: tuple[tuple[type[HindsightError], int], ...] = (
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.TooLarge, 413),
    (errors.InvalidRequest, 400),
    (errors.AccessDenied, 403),
    (errors.Unauthenticated, 401),
    (errors.WorkDeferred, 503),
    (errors.WorkSuperseded, 503),
    (errors.WorkRaced, 503),
    (errors.DatabaseUnavailable, 503),
    (errors.DatabaseTooSlow, 504),
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
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def detail(text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """An error answer with one sentence."""
    return _answer({"detail": text}, status, headers)


def _on_known(_request: Request, error: Exception) -> Response:
    if isinstance(error, InvalidField):
        return _answer({"detail": [_field_error(error)]}, 422, None)
    if not isinstance(error, HindsightError):
        raise error
    status = status_of(error)
    if status == 401:
        return detail(f"Authentication failed: {error}", status)
    if status >= 500:
        _LOG.error("answered %d: %s", status, error, exc_info=error)
    if status == 503:
        return detail(str(error), status, {"Retry-After": str(_wait_of(error))})
    return detail(_OUR_FAULT if status == 500 else str(error), status)


def _on_invalid(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    found = [_echoed(entry) for entry in error.errors()[:_MOST_ERRORS]]
    return _answer({"detail": found}, 422, None)


def _on_unknown(_request: Request, _error: Exception) -> Response:
    return detail(_OUR_FAULT, 500)


def _wait_of(error: HindsightError) -> int:
    until = error.until if isinstance(error, errors.WorkDeferred) else None
    if until is None:
        return _SHORTEST_WAIT_S
    wait = math.ceil((until - datetime.now(UTC)).total_seconds())
    return min(max(wait, _SHORTEST_WAIT_S), _LONGEST_WAIT_S)


def _field_error(error: InvalidField) -> dict[str, object]:
    parts = [int(part) if part.isdigit() else part for part in re.split(r"[.\[\]]+", error.field) if part]
    return {
        "type": "value_error",
        "loc": ["body", *parts],
        "msg": f"Value error, {error}",
        "input": None,
        "ctx": {"error": {}},
    }


def _echoed(entry: Mapping[str, object]) -> dict[str, object]:
    kept = {key: entry[key] for key in ("type", "loc", "msg", "input", "ctx") if key in entry}
    context = kept.get("ctx")
    if isinstance(context, Mapping) and isinstance(context.get("error"), Exception):
        kept["ctx"] = {**context, "error": {}}
    return {key: _safe(value, 0) for key, value in kept.items()}


def _safe(value: object, depth: int) -> object:
    """The value as something that can be shown: finite, short, shallow; of megabytes only the beginning comes back."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_ECHO else f"{value[:_LONGEST_ECHO]}… ({len(value)} characters)"
    if isinstance(value, int | float):
        return value if abs(value) < 1e18 else str(value)[:40]
    if depth >= _DEEPEST_ECHO:
        return "…"
    if isinstance(value, Mapping):
        return {str(key)[:100]: _safe(child, depth + 1) for key, child in list(value.items())[:_MOST_ECHOED]}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_safe(child, depth + 1) for child in list(value)[:_MOST_ECHOED]]
    return str(value)[:_LONGEST_ECHO]


def _answer(body: Mapping[str, object], status: int, headers: Mapping[str, str] | None) -> Response:
    # Escaped to ASCII: what is echoed may hold a lone surrogate, which has no UTF-8 form.
    return Response(json.dumps(body, separators=(",", ":")), status, headers, media_type="application/json")
