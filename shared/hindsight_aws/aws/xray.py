"""Spans to X-Ray by the daemon that Lambda runs beside each function: datagrams to this machine, no call, no library.

Made by invocation.py.  A span becomes a subsegment of the segment that Lambda itself writes for the invocation.
"""

from __future__ import annotations

import json
import re
import socket
from typing import Final

from hindsight_aws.aws.pending_spans import PendingSpans
from hindsight_aws.ports.tracing import FinishedSpan, SpanKind
from hindsight_aws.telemetry.trace_context import xray_trace_id

_HEADER: Final = b'{"format":"json","version":1}\n'
_NOT_IN_NAMES: Final = re.compile(r"[^\w\s.:/%&#=+\\\-@]")
_NOT_IN_KEYS: Final = re.compile(r"[^A-Za-z0-9_]")
_LONGEST_NAME: Final = 200
_INDEXED: Final = (
    "hindsight.tenant",
    "hindsight.bank",
    "hindsight.operation",
    "hindsight.task",
    "gen_ai.operation.name",
    "gen_ai.request.model",
    "error.type",
)
"""Attributes to search by; a trace may hold fifty annotations, so the others are metadata."""


class XRaySpans(PendingSpans):
    """Keeps `ports.tracing.Spans`; `address` is the daemon's, as `host:port`."""

    def __init__(self, address: str) -> None:
        super().__init__()
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))

    def flush(self) -> None:
        spans = self._take()
        if not spans:
            return
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for span in spans:
                try:
                    sender.sendto(_HEADER + json.dumps(subsegment(span)).encode(), self._address)
                except OSError:  # no daemon, or a datagram too long: a span is lost
                    continue


def subsegment(span: FinishedSpan) -> dict[str, object]:
    """The span as X-Ray's own document."""
    found: dict[str, object] = {
        "type": "subsegment",
        "name": _NOT_IN_NAMES.sub("_", span.name)[:_LONGEST_NAME],
        "id": span.context.span_id,
        "trace_id": xray_trace_id(span.context.trace_id),
        "start_time": span.started_at,
        "end_time": span.ended_at,
        "annotations": {
            _NOT_IN_KEYS.sub("_", name): span.attributes[name] for name in _INDEXED if name in span.attributes
        },
        "metadata": {"otel": dict(span.attributes)},
    }
    if span.parent_id is not None:
        found["parent_id"] = span.parent_id
    if span.kind is SpanKind.CLIENT:
        found["namespace"] = "remote"
    if span.error is not None:
        found |= {
            "fault": True,
            "throttle": span.error == "throttled",
            "cause": {"exceptions": [{"id": span.context.span_id, "type": span.error}]},
        }
    return found
