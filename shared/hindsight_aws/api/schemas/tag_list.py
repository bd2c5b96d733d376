"""A list of tags in a body, as clients send it.  Part of the bodies beside it."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BeforeValidator


def _as_tags(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return parsed if isinstance(parsed, list) else [value]


Tags = Annotated[list[str], BeforeValidator(_as_tags)]
