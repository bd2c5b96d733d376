"""Spans to any OpenTelemetry collector: OTLP over HTTP as JSON, one request at the end of an event, by no library.

Made by invocation.py.  A collector that does not answer costs its spans and `PATIENCE_S`, and no event.
"""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from hindsight_aws.aws.pending_spans import PendingSpans
from hindsight_aws.model.metric import SERVICE_NAME
from hindsight_aws.ports.tracing import Attribute, FinishedSpan, SpanContext

PATIENCE_S: Final = 2.0
_PATH: Final = "/v1/traces"
_STATUS_ERROR: Final = 2
_log = logging.getLogger(__name__)


class OtlpSpans(PendingSpans):
    """Keeps `ports.tracing.Spans`; `endpoint` is the collector's base address."""

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self._endpoint = urlsplit(endpoint)

    def flush(self) -> None:
        spans = self._take()
        if not spans:
            return
        try:
            status = self._post(json.dumps(request_of(spans)).encode())
        except (OSError, http.client.HTTPException) as lost:
            _log.warning("%d spans are lost: %s", len(spans), lost)
            return
        if status >= 300:
            _log.warning("%d spans are lost: the collector answers %d", len(spans), status)

    def _post(self, body: bytes) -> int:
        made = http.client.HTTPSConnection if self._endpoint.scheme == "https" else http.client.HTTPConnection
        connection = made(self._endpoint.hostname or "localhost", self._endpoint.port, timeout=PATIENCE_S)
        try:
            path = self._endpoint.path.rstrip("/") + _PATH
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()


def request_of(spans: Sequence[FinishedSpan]) -> dict[str, object]:
    """The spans as an ExportTraceServiceRequest in JSON: ids in hexadecimal, 64-bit numbers as strings."""
    resource = {"service.name": SERVICE_NAME, "cloud.provider": "aws", "cloud.platform": "aws_lambda"}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [_attribute(name, value) for name, value in resource.items()]},
                "scopeSpans": [{"scope": {"name": "hindsight_aws"}, "spans": [_span(span) for span in spans]}],
            }
        ]
    }


def _span(span: FinishedSpan) -> dict[str, object]:
    written: dict[str, object] = {
        "traceId": span.context.trace_id,
        "spanId": span.context.span_id,
        "name": span.name,
        "kind": span.kind.value,
        "startTimeUnixNano": _nanoseconds(span.started_at),
        "endTimeUnixNano": _nanoseconds(span.ended_at),
        "attributes": [_attribute(name, value) for name, value in span.attributes.items()],
        "links": [_link(link) for link in span.links],
        "status": {} if span.error is None else {"code": _STATUS_ERROR},
    }
    return written if span.parent_id is None else {**written, "parentSpanId": span.parent_id}


def _link(context: SpanContext) -> dict[str, str]:
    return {"traceId": context.trace_id, "spanId": context.span_id}


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * 1_000_000) * 1_000)


def _attribute(name: str, value: Attribute) -> dict[str, object]:
    return {"key": name, "value": _value(value)}


def _value(value: Attribute) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, tuple):
        return {"arrayValue": {"values": [_value(part) for part in value]}}
    return {"stringValue": value}
