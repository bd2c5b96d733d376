"""Spans of what is being done, each a child of the one it is done in.

Told by whoever works; calls the port that the runtime has named.  Where it has named none, a span costs a comparison.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from hindsight_aws.errors import HindsightError
from hindsight_aws.ports.tracing import Attribute, FinishedSpan, SpanContext, SpanKind, Spans
from hindsight_aws.telemetry.event import current
from hindsight_aws.telemetry.trace_context import new_span_id, new_trace_id, to_xray


class OpenSpan:
    """A span while it goes on; attributes and a failure are added as they are learned."""

    __slots__ = ("attributes", "context", "error", "links", "name")

    def __init__(self, name: str, context: SpanContext | None, attributes: Mapping[str, Attribute]) -> None:
        self.name = name
        self.context = context
        self.attributes: dict[str, Attribute] = dict(attributes)
        self.error: str | None = None
        self.links: tuple[SpanContext, ...] = ()

    def set(self, attributes: Mapping[str, Attribute | None]) -> None:
        """Adds what is not None."""
        if self.context is not None:
            self.attributes |= {name: value for name, value in attributes.items() if value is not None}

    def fail(self, error: str) -> None:
        """Says that what is done has failed, and by what name."""
        if self.context is not None:
            self.error = self.attributes["error.type"] = error


_spans: Spans | None = None
_root: OpenSpan | None = None
_operation: OpenSpan | None = None
_inner: ContextVar[OpenSpan | None] = ContextVar("hindsight_span", default=None)
_NOWHERE = nullcontext(OpenSpan("", None, {}))


def trace_into(spans: Spans | None) -> None:
    """Says where spans go; None: nowhere."""
    global _spans  # noqa: PLW0603 - one for the process, as logging's handlers are
    _spans = spans


def root_span() -> OpenSpan | None:
    """The span of the whole event, while there is one."""
    return _root


def current_context() -> SpanContext | None:
    """The innermost span around the caller; in threads that work for an event, that of its operation on memories."""
    inner = _innermost()
    return None if inner is None else inner.context


def _innermost() -> OpenSpan | None:
    return _inner.get() or _operation or _root


def outgoing_trace() -> str | None:
    """The header by which what is sent carries the trace on, as SQS and Step Functions take it; None without one."""
    context = current_context()
    return None if context is None else to_xray(context)


def span(
    name: str, kind: SpanKind = SpanKind.INTERNAL, attributes: Mapping[str, Attribute] | None = None
) -> AbstractContextManager[OpenSpan]:
    """A span around the block, in the one around it.  What the block raises is its failure, by the class's name."""
    parent = _innermost()
    if _spans is None or parent is None or parent.context is None or not parent.context.is_sampled:
        return _NOWHERE
    context = SpanContext(parent.context.trace_id, new_span_id())
    return _recorded(_spans, OpenSpan(name, context, attributes or {}), kind, parent.context.span_id)


@contextmanager
def memory_span(operation: str) -> Iterator[OpenSpan]:
    """A span around one operation on a bank's memories: `gen_ai.operation.name` of the conventions, or a name of ours.

    It says whose the memories are as far as the event knows by its end; never what they say.
    """
    global _operation  # noqa: PLW0603 - a process works on one at a time
    with span(operation, SpanKind.INTERNAL, {"gen_ai.operation.name": operation}) as opened:
        around, _operation = _operation, opened if opened.context is not None else None
        try:
            yield opened
        finally:
            _operation = around
            ids = current().ids
            opened.set({f"hindsight.{name}": id_ for name, id_ in ids.items()})
            opened.set({"gen_ai.memory.store.id": ids.get("bank")})


@contextmanager
def event_span(
    name: str, kind: SpanKind, attributes: Mapping[str, Attribute], parent: SpanContext | None
) -> Iterator[OpenSpan]:
    """The span of a whole event, a child of `parent` in whatever process that is."""
    global _root  # noqa: PLW0603 - a process handles one event at a time
    if _spans is None:
        yield OpenSpan("", None, {})
        return
    trace_id = new_trace_id(time.time()) if parent is None else parent.trace_id
    is_sampled = parent is None or parent.is_sampled
    opened = OpenSpan(name, SpanContext(trace_id, new_span_id(), is_sampled), attributes)
    _root = opened
    try:
        if is_sampled:
            with _recorded(_spans, opened, kind, None if parent is None else parent.span_id):
                yield opened
        else:
            yield opened
    finally:
        _root = None


@contextmanager
def _recorded(spans: Spans, opened: OpenSpan, kind: SpanKind, parent_id: str | None) -> Iterator[OpenSpan]:
    outer = _inner.set(opened)
    started = time.time()
    try:
        yield opened
    except BaseException as error:
        opened.fail(opened.error or _name_of(error))
        raise
    finally:
        _inner.reset(outer)
        if opened.context is not None:
            spans.add(
                FinishedSpan(
                    opened.name,
                    kind,
                    opened.context,
                    parent_id,
                    started,
                    time.time(),
                    dict(opened.attributes),
                    opened.error,
                    opened.links,
                )
            )


def _name_of(error: BaseException) -> str:
    kind = type(error)
    return kind.__name__ if isinstance(error, HindsightError) else f"{kind.__module__}.{kind.__qualname__}"
