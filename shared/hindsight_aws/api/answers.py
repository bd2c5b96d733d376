"""Answers as bytes: JSON with its nulls, instants in ISO 8601 with an offset.  No model is validated on the way out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from starlette.responses import Response


def json_answer(value: Mapping[str, object] | Sequence[object], status: int = 200) -> Response:
    """An answer whose body is the value as JSON, keys in their order."""
    return json_bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain).encode(), status)


def json_bytes(body: bytes, status: int = 200) -> Response:
    """An answer whose body is ready JSON."""
    return Response(body, status, media_type="application/json")


def instant(moment: datetime | None) -> str | None:
    """A moment on the wire: ISO 8601 with its offset, or null."""
    return None if moment is None else moment.isoformat()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
