"""Stats: how much a bank holds, how its work stands, and how it grew."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import document_sight, is_limited, sees_documents, sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import BankInSight, CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.listing import Window
from hindsight_aws.ports.stats import BankStats, TimelineField
from hindsight_aws.usage.allowance import parked

router = APIRouter(prefix="/v1/default/banks/{bank_id}/stats", route_class=ReportingRoute)

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_PERIODS: Final = {
    "1h": ("minute", _MINUTE, 60),
    "12h": ("hour", _HOUR, 12),
    "1d": ("hour", _HOUR, 24),
    "7d": ("day", _DAY, 7),
    "30d": ("day", _DAY, 30),
    "90d": ("day", _DAY, 90),
}
_AXES: Final[dict[str, TimelineField]] = {
    "created_at": "created_at",
    "mentioned_at": "mentioned_at",
    "occurred_start": "occurred_start",
}
_TYPES = ("world", "experience", "observation")


@router.get("", operation_id="get_agent_stats")
async def get_bank_stats(call: CallDep, bank_id: str, refresh: bool = False) -> Response:  # noqa: ARG001  # never stale
    """Counts of the bank as it is now; a key limited to part of it sees the counts of that part alone."""
    with call.bank(bank_id, Permission.READ) as seen:
        if is_limited(seen.principal):
            stats = BankStats(
                units_by_type=seen.tx.stats.units_by_type(seen.bank.bank_id, sight(seen.principal)),
                documents=_documents_seen(seen),
            )
        else:
            stats = seen.tx.stats.counts(seen.bank.bank_id)
        waits = parked(seen.tx, call.services.clock.now())
    told = {} if waits is None else {"parked_until": waits.until, "parked_because": str(waits)}
    return json_answer(_shown(seen.bank.external_id, stats) | told)


@router.get("/memories-timeseries")
async def get_memories_timeseries(
    call: CallDep, bank_id: str, period: str = "7d", time_field: str = "created_at"
) -> Response:
    """Memories in the caller's sight by time and type, every bucket present; an unknown period is a week."""
    period = period if period in _PERIODS else "7d"
    unit, step, count = _PERIODS[period]
    axis = _AXES.get(time_field, "created_at")
    last = _floor(call.services.clock.now(), unit)
    starts = [last - step * (count - 1 - index) for index in range(count)]
    with call.bank(bank_id, Permission.READ) as seen:
        found = seen.tx.stats.timeline(seen.bank.bank_id, sight(seen.principal), axis, unit, starts[0])
    buckets = _padded(starts, found)
    head = {"bank_id": seen.bank.external_id, "period": period, "trunc": unit, "time_field": axis}
    return json_answer({**head, "buckets": buckets})


def _documents_seen(seen: BankInSight) -> int:
    if not sees_documents(seen.principal):
        return 0
    wanted = document_sight(seen.principal)
    return seen.tx.documents.page(seen.bank.bank_id, wanted, None, Window(), limit=0, offset=0).total


def _floor(moment: datetime, unit: str) -> datetime:
    floored = moment.astimezone(UTC).replace(second=0, microsecond=0)
    if unit != "minute":
        floored = floored.replace(minute=0)
    return floored.replace(hour=0) if unit == "day" else floored


def _padded(starts: Sequence[datetime], found: Sequence[tuple[datetime, str, int]]) -> list[dict[str, object]]:
    counts = {(bucket.astimezone(UTC), fact_type): units for bucket, fact_type, units in found}
    return [
        {"time": start, **{fact_type: counts.get((start, fact_type), 0) for fact_type in _TYPES}} for start in starts
    ]


def _shown(bank: str, stats: BankStats) -> dict[str, object]:
    operations = stats.operations_by_status
    return {
        "bank_id": bank,
        "total_nodes": sum(stats.units_by_type.values()),
        "total_links": sum(stats.links_by_type.values()),
        "total_documents": stats.documents,
        "nodes_by_fact_type": stats.units_by_type,
        "links_by_link_type": stats.links_by_type,
        "links_by_fact_type": {},
        "links_breakdown": {},
        "pending_operations": operations.get("pending", 0),
        "failed_operations": operations.get("failed", 0),
        "operations_by_status": operations,
        "last_consolidated_at": stats.last_consolidated_at,
        "last_memory_write_at": stats.last_write_at,
        "pending_consolidation": stats.pending_consolidation,
        "failed_consolidation": stats.failed_consolidation,
        "total_observations": stats.units_by_type.get("observation", 0),
        "evidence_by_origin": {origin: stats.evidence_by_origin.get(origin, 0) for origin in ("model", "whole")},
    }
