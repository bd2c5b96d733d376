"""Spans as the X-Ray daemon and as an OpenTelemetry collector take them; one that is not there stops nothing."""

from __future__ import annotations

import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from hindsight_aws.aws.otlp import OtlpSpans, request_of
from hindsight_aws.aws.xray import XRaySpans, subsegment
from hindsight_aws.ports.tracing import FinishedSpan, SpanContext, SpanKind

TRACE, SPAN, PARENT = "5759e988" + "bd862e3fe1be46a994272793", "00f067aa0ba902b7", "53995c3f42cd8ad8"
CALL = FinishedSpan(
    "chat eu.anthropic.claude-sonnet-4-5!",
    SpanKind.CLIENT,
    SpanContext(TRACE, SPAN),
    PARENT,
    1_800_000_000.25,
    1_800_000_001.5,
    {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.response.finish_reasons": ("tool_use",),
        "faas.coldstart": True,
        "error.type": "throttled",
    },
    "throttled",
    (SpanContext("1" * 32, "2" * 16),),
)


def test_a_span_is_a_subsegment_of_the_segment_that_lambda_writes() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(5)
        spans = XRaySpans(f"127.0.0.1:{daemon.getsockname()[1]}")

        spans.add(CALL)
        spans.flush()

        header, _, document = daemon.recv(65_535).partition(b"\n")
    written = json.loads(document)
    assert json.loads(header) == {"format": "json", "version": 1}
    assert (written["type"], written["namespace"], written["parent_id"]) == ("subsegment", "remote", PARENT)
    assert re.fullmatch(r"1-[0-9a-f]{8}-[0-9a-f]{24}", written["trace_id"])
    assert written["name"] == "chat eu.anthropic.claude-sonnet-4-5_"
    assert written["annotations"] == {"gen_ai_operation_name": "chat", "gen_ai_request_model": "m",
                                      "error_type": "throttled"}  # fmt: skip
    assert written["metadata"]["otel"]["gen_ai.usage.input_tokens"] == 120
    assert (written["fault"], written["throttle"]) == (True, True)


def test_a_span_that_went_well_has_no_fault_and_one_without_parent_names_none() -> None:
    well = FinishedSpan("x", SpanKind.INTERNAL, SpanContext(TRACE, SPAN), None, 1.0, 2.0, {})

    assert subsegment(well).keys() & {"fault", "cause", "parent_id", "namespace"} == set()


def test_no_daemon_is_no_error() -> None:
    spans = XRaySpans("127.0.0.1:9")
    spans.add(CALL)
    spans.add(CALL)

    spans.flush()


def test_a_request_is_otlp_in_json() -> None:
    (resource,) = json.loads(json.dumps(request_of([CALL])))["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    (span,) = scope["spans"]
    values = {attribute["key"]: attribute["value"] for attribute in span["attributes"]}

    assert {"key": "service.name", "value": {"stringValue": "hindsight"}} in resource["resource"]["attributes"]
    assert (span["traceId"], span["spanId"], span["parentSpanId"], span["kind"]) == (TRACE, SPAN, PARENT, 3)
    assert (span["startTimeUnixNano"], span["endTimeUnixNano"]) == ("1800000000250000000", "1800000001500000000")
    assert span["status"] == {"code": 2}
    assert span["links"] == [{"traceId": "1" * 32, "spanId": "2" * 16}]
    assert values["gen_ai.usage.input_tokens"] == {"intValue": "120"}
    assert values["gen_ai.request.temperature"] == {"doubleValue": 0.0}
    assert values["faas.coldstart"] == {"boolValue": True}
    assert values["gen_ai.response.finish_reasons"] == {"arrayValue": {"values": [{"stringValue": "tool_use"}]}}


def test_spans_are_posted_together_when_the_event_is_over() -> None:
    posted: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        spans = OtlpSpans(f"http://127.0.0.1:{server.server_port}/base/")

        spans.add(CALL)
        spans.add(CALL)
        spans.flush()
        spans.flush()
        thread.join()

    ((path, body),) = posted
    assert path == "/base/v1/traces"
    assert len(json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]) == 2


def test_a_collector_that_is_not_there_costs_its_spans_and_no_event(caplog: pytest.LogCaptureFixture) -> None:
    spans = OtlpSpans("http://127.0.0.1:9")
    spans.add(CALL)

    spans.flush()

    assert "1 spans are lost" in caplog.text
