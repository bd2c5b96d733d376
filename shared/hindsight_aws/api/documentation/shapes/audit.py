"""Who called what."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class AuditLogSummary(TypedDict):
    """A call: who made it, when, and how it ended."""

    id: str
    action: str
    transport: str
    bank_id: str | None
    started_at: str | None
    ended_at: str | None
    duration_ms: NotRequired[int | None]
    metadata: dict[str, object]


class AuditLogListResponse(TypedDict):
    """One page of calls."""

    bank_id: str
    total: int
    limit: int
    offset: int
    items: list[AuditLogSummary]


class AuditLogEntry(TypedDict):
    """One call; of what was sent and answered nothing is kept."""

    id: str
    action: str
    transport: str
    bank_id: str | None
    started_at: str | None
    ended_at: str | None
    duration_ms: NotRequired[int | None]
    metadata: dict[str, object]
    request: dict[str, object] | None
    response: dict[str, object] | None


class AuditLogStatsBucket(TypedDict):
    """How many calls of each action one span of time brought."""

    time: str
    actions: dict[str, int]
    total: int


class AuditLogStatsResponse(TypedDict):
    """Calls counted along time."""

    bank_id: str
    period: str
    trunc: str
    start: str
    buckets: list[AuditLogStatsBucket]
