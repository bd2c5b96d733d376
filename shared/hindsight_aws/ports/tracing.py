"""What a span is, and where spans go.  Fulfilled by aws/xray.py and aws/otlp.py; made by telemetry/spans.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

Attribute: TypeAlias = str | int | float | bool | tuple[str, ...]


class SpanKind(Enum):
    """Which side of a call a span is; the values are OpenTelemetry's numbers."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    CONSUMER = 5


@dataclass(frozen=True, slots=True)
class SpanContext:
    """A span of any process: 32 and 16 hexadecimal digits.  Of a trace that is not sampled nothing is written."""

    trace_id: str
    span_id: str
    is_sampled: bool = True


@dataclass(frozen=True, slots=True)
class FinishedSpan:
    """A span that is over.  Times are seconds since 1970; `error` is a low-cardinality name, or None.

    `links` are spans elsewhere that it came about by, where it has no parent there.
    """

    name: str
    kind: SpanKind
    context: SpanContext
    parent_id: str | None
    started_at: float
    ended_at: float
    attributes: Mapping[str, Attribute]
    error: str | None = None
    links: tuple[SpanContext, ...] = ()


class Spans(Protocol):
    """Takes spans as they end, and has written them when the event is over."""

    def add(self, span: FinishedSpan) -> None:
        """Takes one span, from any thread."""
        ...

    def flush(self) -> None:
        """Sends what was taken since the last time.  What cannot be sent is lost: no event fails of it."""
        ...
