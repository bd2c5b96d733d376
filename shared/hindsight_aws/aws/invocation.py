"""Around every event of a function: what is told of it, and that all told is written before Lambda freezes the process.

Called by the doors through runtime.py; calls telemetry.  Knows the shapes of Lambda's events, and of its context.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from hindsight_aws.errors import HindsightError
from hindsight_aws.ports.metrics import Metrics
from hindsight_aws.ports.tracing import Attribute, SpanContext, SpanKind, Spans
from hindsight_aws.settings import Settings
from hindsight_aws.telemetry.event import Event, begin, current
from hindsight_aws.telemetry.measuring import measure_into
from hindsight_aws.telemetry.redaction import saying
from hindsight_aws.telemetry.spans import OpenSpan, event_span, trace_into
from hindsight_aws.telemetry.trace_context import of_traceparent, of_xray

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LAMBDA_TRACE: Final = "_X_AMZN_TRACE_ID"
"""The variable that Lambda sets anew for each event."""
_log = logging.getLogger(__name__)


class Watching(Protocol):
    """Makes a handler one whose events are watched, and which is called as before."""

    def __call__(self, handler: Callable[_P, _R], /) -> Callable[_P, _R]:
        """The watched handler."""
        ...


def watch_of(settings: Settings) -> Watch:
    """The watch that the settings ask for; from here on what is measured and traced goes where it says."""
    metrics: Metrics | None = None
    spans: Spans | None = None
    if settings.hindsight_metrics == "emf":
        from hindsight_aws.aws.emf import EmfMetrics

        metrics = EmfMetrics()
    if settings.hindsight_tracing == "xray":
        from hindsight_aws.aws.xray import XRaySpans

        spans = XRaySpans(settings.aws_xray_daemon_address)
    elif settings.hindsight_tracing == "otlp":
        from hindsight_aws.aws.otlp import OtlpSpans

        spans = OtlpSpans(settings.hindsight_otlp_endpoint)
    return Watch(metrics, spans, follows_callers=settings.hindsight_tracing == "otlp")


class Watch:
    """Watches the events of one process."""

    def __init__(self, metrics: Metrics | None, spans: Spans | None, *, follows_callers: bool) -> None:
        """`follows_callers`: a caller's own trace is carried on, rather than the one that Lambda begins."""
        measure_into(metrics)
        trace_into(spans)
        self._metrics = metrics
        self._spans = spans
        self._follows_callers = follows_callers
        self._is_cold = True

    def over(self, function: str) -> Watching:
        """What makes a handler a watched one; `function` is its name in the topology."""

        def watching(handler: Callable[_P, _R], /) -> Callable[_P, _R]:
            return self._watched(function, handler)

        return watching

    def _watched(self, function: str, handler: Callable[_P, _R]) -> Callable[_P, _R]:
        """The handler, watched.

        What it raises that is no error of ours is logged.  What may quote something is raised on by the same name
        without its words: Lambda writes those into its log and, in a workflow, into the history.
        """

        def watched(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            event, context = (args[0] if args else None), (args[1] if len(args) > 1 else None)
            begin(Event(function, str(getattr(context, "aws_request_id", "")), self._is_cold))
            self._is_cold = False
            try:
                with self._traced(event) as opened:
                    answer = handler(*args, **kwargs)
                    _describe(opened, answer)
                    return answer
            except Exception as error:
                if not isinstance(error, HindsightError):
                    _log.exception("the event failed")
                if saying(error) == str(error):
                    raise
                raise _nameless(error) from None
            finally:
                self._write()

        return watched

    @contextmanager
    def _traced(self, event: object) -> Iterator[OpenSpan]:
        if self._spans is None:
            with event_span("", SpanKind.SERVER, {}, None) as opened:
                yield opened
            return
        kind, name, attributes = _shape_of(event)
        messages = [context for context in _contexts_of(event) if context is not None]
        parent = of_xray(os.environ.get(_LAMBDA_TRACE))
        if self._follows_callers:
            caller = of_traceparent(_header(event, "traceparent"))
            parent = caller or (messages[0] if len(messages) == 1 else None) or parent
        told: dict[str, Attribute] = {
            "faas.invocation_id": current().request_id,
            "faas.coldstart": current().is_cold_start,
        }
        with event_span(name, kind, told | dict(attributes), parent) as opened:
            opened.links = tuple(messages) if len(messages) > 1 else ()
            yield opened
            opened.set({f"hindsight.{id_}": value for id_, value in current().ids.items()})

    def _write(self) -> None:
        """Whatever became of the event."""
        for told in (self._metrics, self._spans):
            if told is not None:
                told.flush()
        begin(Event())


def _nameless(error: Exception) -> Exception:
    """An error of the same name that quotes nothing."""
    named: type[Exception] = type(type(error).__name__, (Exception,), {})
    return named(saying(error))


def _shape_of(event: object) -> tuple[SpanKind, str, Mapping[str, Attribute]]:
    function = current().function
    method = _method(event)
    if method is not None:
        return SpanKind.SERVER, method, {"faas.trigger": "http", "http.request.method": method, "faas.name": function}
    records = _records(event)
    if records:
        told: dict[str, Attribute] = {
            "faas.trigger": "pubsub",
            "messaging.system": "aws_sqs",
            "messaging.operation.type": "process",
            "messaging.destination.name": str(records[0].get("eventSourceARN", "")).rpartition(":")[2],
            "messaging.batch.message_count": len(records),
            "faas.name": function,
        }
        return SpanKind.CONSUMER, f"process {function}", told
    trigger = "timer" if function == "sweep" else "other"
    return SpanKind.SERVER, function, {"faas.trigger": trigger, "faas.name": function}


def _describe(opened: OpenSpan, answer: object) -> None:
    status = answer.get("statusCode") if isinstance(answer, Mapping) else None
    if isinstance(status, int):
        opened.set({"http.response.status_code": status})
        if status >= 500:
            opened.fail(str(status))


def _contexts_of(event: object) -> list[SpanContext | None]:
    headers = [_mapping(record.get("attributes")).get("AWSTraceHeader") for record in _records(event)]
    return [of_xray(header) for header in headers if isinstance(header, str)]


def _records(event: object) -> Sequence[Mapping[str, Any]]:
    found = _mapping(event).get("Records")
    return [record for record in found if isinstance(record, Mapping)] if isinstance(found, list) else []


def _method(event: object) -> str | None:
    found = _mapping(_mapping(_mapping(event).get("requestContext")).get("http")).get("method")
    return found if isinstance(found, str) else None


def _header(event: object, name: str) -> str | None:
    found = _mapping(_mapping(event).get("headers")).get(name)
    return found if isinstance(found, str) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
