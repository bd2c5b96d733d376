"""Every event of a function is watched: what it tells is written when it is over, also when it fails."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hindsight_aws.aws.invocation import Watch
from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.tracing import SpanContext, SpanKind
from hindsight_aws.telemetry import Event, about, begin, current, measure, measure_into, measure_once, trace_into
from tests.support.telling import KeptMetrics, KeptSpans

EVENTS = Path(__file__).resolve().parents[2] / "events"
TRACE, PARENT = "5759e988" + "bd862e3fe1be46a994272793", "53995c3f42cd8ad8"
CLIENT = f"00-{'4bf92f3577b34da6' * 2}-00f067aa0ba902b7-01"
SECRET_TEXT = "the heron on the canal"


@dataclass(frozen=True)
class Context:
    """The part of Lambda's context that is read."""

    aws_request_id: str = "r-1"


class Watched:
    """A watched handler with what it told."""

    def __init__(self, function: str = "ingest", *, traced: bool = False, follows: bool = False) -> None:
        self.metrics, self.spans = KeptMetrics(), KeptSpans()
        self.seen: list[Event] = []
        self._fault: Exception | None = None
        self._answer: object = None
        watch = Watch(self.metrics, self.spans if traced else None, follows_callers=follows)
        self.handler = watch.over(function)(self._handle)

    def _handle(self, _event: object, _context: object) -> object:
        self.seen.append(current())
        measure_once(Metric.DATABASE_UNAVAILABLE)
        measure_once(Metric.DATABASE_UNAVAILABLE)
        about(tenant="t-1")
        measure(Metric.MODEL_CALLS)
        if self._fault is not None:
            raise self._fault
        return self._answer

    def __call__(self, event: object = None, answer: object = None, fault: Exception | None = None) -> object:
        self._fault, self._answer = fault, answer
        return self.handler(event, Context())


@pytest.fixture(autouse=True)
def nobody_told() -> Any:
    yield
    measure_into(None)
    trace_into(None)
    begin(Event())


@pytest.fixture(autouse=True)
def lambda_s_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", f"Root=1-{TRACE[:8]}-{TRACE[8:]};Parent={PARENT};Sampled=1")


def _event(name: str) -> Any:
    return json.loads((EVENTS / name).read_text("utf-8"))


def test_what_an_event_tells_is_its_own_and_the_first_is_a_cold_start() -> None:
    watched = Watched()

    watched()
    watched()

    assert [(event.function, event.request_id, event.is_cold_start) for event in watched.seen] == [
        ("ingest", "r-1", True),
        ("ingest", "r-1", False),
    ]
    assert watched.metrics.flushed == 2
    assert watched.metrics.sums() == {Metric.DATABASE_UNAVAILABLE: 2, Metric.MODEL_CALLS: 2}
    assert [properties for metric, _, _, properties in watched.metrics.added if metric is Metric.MODEL_CALLS] == [
        {"function": "ingest", "requestId": "r-1", "tenant": "t-1"}
    ] * 2
    assert current() == Event()


def test_what_was_measured_is_written_also_when_the_handler_raises() -> None:
    watched = Watched(traced=True)

    with pytest.raises(DatabaseUnavailable):
        watched(fault=DatabaseUnavailable("the connection broke"))

    assert (watched.metrics.flushed, watched.spans.flushed) == (1, 1)
    assert watched.spans.named("ingest").error == "DatabaseUnavailable"


def test_an_unknown_error_is_raised_by_its_name_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()

    with caplog.at_level(logging.ERROR), pytest.raises(Exception, match=r"^ValueError$") as raised:
        watched(fault=ValueError(f"invalid literal: {SECRET_TEXT}"))

    assert type(raised.value).__name__ == "ValueError"
    assert raised.value.__cause__ is None
    assert [record.message for record in caplog.records] == ["the event failed"]


def test_an_http_event_is_a_span_of_a_server_with_its_status() -> None:
    watched = Watched("recall", traced=True)
    event = {"requestContext": {"http": {"method": "POST", "path": f"/{SECRET_TEXT}"}}, "headers": {}}

    watched(event, {"statusCode": 504})

    span = watched.spans.named("POST")
    assert span.kind is SpanKind.SERVER
    assert (span.context.trace_id, span.parent_id, span.error) == (TRACE, PARENT, "504")
    assert span.attributes["http.response.status_code"] == 504
    assert span.attributes["faas.invocation_id"] == "r-1"
    assert span.attributes["faas.coldstart"] is True
    assert SECRET_TEXT not in repr(span)


@pytest.mark.parametrize(("follows", "trace"), [(True, CLIENT[3:35]), (False, TRACE)], ids=["otlp", "xray"])
def test_a_caller_s_own_trace_is_carried_on_where_the_collector_is_not_lambda_s(follows: bool, trace: str) -> None:
    watched = Watched("recall", traced=True, follows=follows)

    watched({"requestContext": {"http": {"method": "GET"}}, "headers": {"traceparent": CLIENT}})

    assert watched.spans.named("GET").context.trace_id == trace


@pytest.mark.parametrize("messages", [1, 2])
def test_work_is_in_the_trace_of_the_message_that_woke_it_or_linked_to_those_of_several(messages: int) -> None:
    watched = Watched("ingest", traced=True, follows=True)
    senders = [SpanContext(f"{number:032x}", f"{number:016x}") for number in range(1, messages + 1)]
    records = [
        {
            "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:ingest",
            "attributes": {"AWSTraceHeader": f"Root=1-{one.trace_id[:8]}-{one.trace_id[8:]};Parent={one.span_id}"},
        }
        for one in senders
    ]

    watched({"Records": records})

    span = watched.spans.named("process ingest")
    assert span.kind is SpanKind.CONSUMER
    assert span.attributes["messaging.batch.message_count"] == messages
    assert span.attributes["messaging.destination.name"] == "ingest"
    if messages == 1:
        assert (span.context.trace_id, span.parent_id) == (senders[0].trace_id, senders[0].span_id)
    else:
        assert span.context.trace_id == TRACE
        assert span.links == tuple(senders)


@pytest.mark.parametrize("name", sorted(path.name for path in EVENTS.glob("*.json")))
def test_every_event_of_the_library_can_be_watched(name: str) -> None:
    watched = Watched("sweep", traced=True)

    watched(_event(name))

    assert len(watched.spans.ended) == 1
