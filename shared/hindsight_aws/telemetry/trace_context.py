"""Traces as headers say them: X-Ray's own, which Lambda, SQS and Step Functions hand on, and that of the W3C.  Pure."""

from __future__ import annotations

import re
import secrets

from hindsight_aws.ports.tracing import SpanContext

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_ROOT = re.compile(r"1-([0-9a-f]{8})-([0-9a-f]{24})")
_ID = re.compile(r"[0-9a-f]{16}")


def new_trace_id(now: float) -> str:
    """An id nobody has; its beginning is the time in seconds, as X-Ray wants it."""
    return f"{int(now):08x}{secrets.token_hex(12)}"


def new_span_id() -> str:
    """An id nobody has."""
    return secrets.token_hex(8)


def of_traceparent(header: str | None) -> SpanContext | None:
    """The span that a W3C `traceparent` names; None for what is none."""
    found = _TRACEPARENT.fullmatch((header or "").strip())
    if found is None or not found[1].strip("0") or not found[2].strip("0"):
        return None
    return SpanContext(found[1], found[2], bool(int(found[3], 16) & 1))


def of_xray(header: str | None) -> SpanContext | None:
    """The span that a header of X-Ray names; None for what names no span.  Only `Sampled=0` says that it is not."""
    fields = dict(part.strip().partition("=")[::2] for part in (header or "").split(";"))
    root, parent = _ROOT.fullmatch(fields.get("Root", "")), fields.get("Parent", "")
    if root is None or _ID.fullmatch(parent) is None:
        return None
    return SpanContext(root[1] + root[2], parent, fields.get("Sampled") != "0")


def to_xray(context: SpanContext) -> str:
    """The header that names the span."""
    trace_id = xray_trace_id(context.trace_id)
    return f"Root={trace_id};Parent={context.span_id};Sampled={int(context.is_sampled)}"


def xray_trace_id(trace_id: str) -> str:
    """A trace's id as X-Ray writes it."""
    return f"1-{trace_id[:8]}-{trace_id[8:]}"
