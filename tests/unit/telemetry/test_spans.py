"""Spans nest, in threads too; where none are wanted nothing is made; headers of others are read and written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hindsight_aws.errors import ModelThrottled
from hindsight_aws.ports.tracing import SpanContext, SpanKind
from hindsight_aws.telemetry import Event, about, begin, memory_span, outgoing_trace, span
from hindsight_aws.telemetry.spans import event_span
from hindsight_aws.telemetry.trace_context import of_traceparent, of_xray, to_xray
from tests.support.telling import KeptSpans, telling

TRACE, PARENT = "5759e988" + "bd862e3fe1be46a994272793", "53995c3f42cd8ad8"


def test_a_span_is_a_child_of_the_one_around_it_and_in_a_thread_of_the_event_s() -> None:
    spans = KeptSpans()

    with telling(spans), event_span("event", SpanKind.SERVER, {}, SpanContext(TRACE, PARENT)):
        with span("outer"), span("inner"):
            pass
        with ThreadPoolExecutor(1) as pool:
            pool.submit(_in_span, "thread").result()

    assert spans.named("event").parent_id == PARENT
    assert spans.named("outer").parent_id == spans.named("event").context.span_id
    assert spans.named("inner").parent_id == spans.named("outer").context.span_id
    assert spans.named("thread").parent_id == spans.named("event").context.span_id
    assert {ended.context.trace_id for ended in spans.ended} == {TRACE}


def test_a_thread_that_works_for_an_operation_on_memories_is_in_its_span() -> None:
    spans, event = KeptSpans(), event_span("event", SpanKind.SERVER, {}, None)

    with telling(spans), event, memory_span("upsert_memory"), ThreadPoolExecutor(1) as pool:
        pool.submit(_in_span, "thread").result()

    assert spans.named("thread").parent_id == spans.named("upsert_memory").context.span_id


def _in_span(name: str) -> None:
    with span(name):
        pass


def test_what_is_raised_is_the_span_s_failure_by_name_alone() -> None:
    spans = KeptSpans()

    with telling(spans), event_span("event", SpanKind.SERVER, {}, None):
        with pytest.raises(ModelThrottled), span("ours"):
            raise ModelThrottled("slow down")
        with pytest.raises(ValueError, match="text"), span("theirs"):
            raise ValueError("text of a memory")

    assert spans.named("ours").error == "ModelThrottled"
    assert spans.named("theirs").error == "builtins.ValueError"
    assert spans.named("theirs").attributes == {"error.type": "builtins.ValueError"}
    assert spans.named("event").error is None


def test_where_spans_go_nowhere_and_in_a_trace_that_is_not_sampled_none_is_made() -> None:
    spans = KeptSpans()

    with telling(None), event_span("event", SpanKind.SERVER, {}, None), span("inner") as inner:
        assert inner.context is None
        assert outgoing_trace() is None
    with telling(spans), event_span("event", SpanKind.SERVER, {}, SpanContext(TRACE, PARENT, False)), span("inner"):
        assert outgoing_trace() is not None
        assert "Sampled=0" in str(outgoing_trace())

    assert spans.ended == []


def test_an_operation_on_memories_says_whose_they_are_when_it_has_learned_it() -> None:
    spans = KeptSpans()

    with telling(spans):
        begin(Event("recall"))
        with event_span("event", SpanKind.SERVER, {}, None), memory_span("search_memory"):
            about(tenant="t-1", bank="b-1")

    assert spans.named("search_memory").attributes == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.store.id": "b-1",
        "hindsight.tenant": "t-1",
        "hindsight.bank": "b-1",
    }


@pytest.mark.parametrize(
    ("header", "context"),
    [
        (f"Root=1-{TRACE[:8]}-{TRACE[8:]};Parent={PARENT};Sampled=1", SpanContext(TRACE, PARENT)),
        (f"Root=1-{TRACE[:8]}-{TRACE[8:]};Parent={PARENT};Sampled=0;Lineage=a:0", SpanContext(TRACE, PARENT, False)),
        (f"Root=1-{TRACE[:8]}-{TRACE[8:]};Sampled=1", None),
        ("Root=1-short-short;Parent=x", None),
        ("", None),
        (None, None),
    ],
    ids=["sampled", "not", "without-parent", "broken", "empty", "none"],
)
def test_a_header_of_xray_names_a_span_or_none(header: str | None, context: SpanContext | None) -> None:
    assert of_xray(header) == context
    if context is not None:
        assert of_xray(to_xray(context)) == context


@pytest.mark.parametrize(
    ("header", "context"),
    [
        (f"00-{TRACE}-{PARENT}-01", SpanContext(TRACE, PARENT)),
        (f"00-{TRACE}-{PARENT}-00", SpanContext(TRACE, PARENT, False)),
        (f"cc-{TRACE}-{PARENT}-01-later", SpanContext(TRACE, PARENT)),
        (f"00-{'0' * 32}-{PARENT}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        ("00-zz-zz-01", None),
        (None, None),
    ],
    ids=["sampled", "not", "later-version", "no-trace", "no-span", "broken", "none"],
)
def test_a_traceparent_names_a_span_or_none(header: str | None, context: SpanContext | None) -> None:
    assert of_traceparent(header) == context
