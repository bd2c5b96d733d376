"""Spans that have ended and wait for the event's end, from whichever thread they come.  Extended by xray and otlp."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_aws.ports.tracing import FinishedSpan


class PendingSpans:
    """The part of `ports.tracing.Spans` that all who write spans have in common."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spans: list[FinishedSpan] = []

    def add(self, span: FinishedSpan) -> None:
        """Keeps the span until it is taken."""
        with self._lock:
            self._spans.append(span)

    def _take(self) -> list[FinishedSpan]:
        """Every span that was kept; each is taken once."""
        with self._lock:
            spans, self._spans = self._spans, []
        return spans
