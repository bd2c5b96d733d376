"""A window of time that a query asks about.  Made by the grammar; read by the temporal arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

Kind = Literal["interval", "since", "until"]
LEAST_CONFIDENCE: Final = 0.5
"""Below it a phrase makes no window: a bare month may be a name, a bare number a port."""

EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
"""Where a window without a beginning begins."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to `end`, both included, in the zone of the moment of asking; `text` is the phrase that says so."""

    start: datetime
    end: datetime
    kind: Kind = "interval"
    text: str = ""
    confidence: float = 1.0


def hull(windows: Sequence[Window]) -> tuple[datetime, datetime] | None:
    """The first beginning and the last end of all windows; None for none."""
    if not windows:
        return None
    return min(window.start for window in windows), max(window.end for window in windows)
