"""Who called what on a bank, for keys that see the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.access import require_whole_bank
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Offset, uuid_of, window
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import NotFound
from hindsight_aws.model.audit import AuditEntry
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.audit import AuditCount, AuditFilter

router = APIRouter(prefix="/v1/default/banks/{bank_id}/audit-logs", route_class=ReportingRoute)
_PERIODS: Final[dict[str, tuple[Literal["hour", "day"], timedelta]]] = {
    "1d": ("hour", timedelta(days=1)),
    "7d": ("day", timedelta(days=7)),
    "30d": ("day", timedelta(days=30)),
}


@router.get("")
async def list_audit_logs(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    action: str | None = None,
    transport: str | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Offset = 0,
) -> Response:
    """Calls on the bank, the latest first, from `start_date` on and before `end_date`."""
    asked = window(None, "created_at", start_date, end_date)
    wanted = AuditFilter(action or None, transport or None, asked.start, asked.end)
    with call.bank(bank_id, Permission.READ) as seen:
        require_whole_bank(seen.principal)
        found = seen.tx.audit.page(seen.bank.external_id, wanted, limit, offset)
        bank = seen.bank.external_id
    items = [_summary(entry) for entry in found.items]
    return json_answer({"bank_id": bank, "total": found.total, "limit": limit, "offset": offset, "items": items})


@router.get("/stats")
async def audit_log_stats(call: CallDep, bank_id: str, action: str | None = None, period: str = "7d") -> Response:
    """How many calls of each action there were, by hour for a day and else by day; an unknown period is a week."""
    period = period if period in _PERIODS else "7d"
    unit, length = _PERIODS[period]
    start = call.services.clock.now() - length
    with call.bank(bank_id, Permission.READ) as seen:
        require_whole_bank(seen.principal)
        counts = seen.tx.audit.counts(seen.bank.external_id, action or None, unit, start)
        bank = seen.bank.external_id
    head = {"bank_id": bank, "period": period, "trunc": unit, "start": start}
    return json_answer({**head, "buckets": _buckets(counts)})


@router.get("/{log_id}")
async def get_audit_log(call: CallDep, bank_id: str, log_id: str) -> Response:
    """One call; of what was sent and answered nothing is kept."""
    wanted = uuid_of(log_id, "log_id")
    absent = NotFound(f"Audit log entry '{log_id}' not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        require_whole_bank(seen.principal)
        entry = seen.tx.audit.view(seen.bank.external_id, wanted)
        if entry is None:
            raise absent
    return json_answer({**_summary(entry), "request": None, "response": None})


def _summary(entry: AuditEntry) -> dict[str, object]:
    took = entry.ended_at - entry.started_at
    return {
        "id": entry.entry_id,
        "action": entry.action,
        "transport": entry.transport,
        "bank_id": entry.bank,
        "started_at": entry.started_at,
        "ended_at": entry.ended_at,
        "duration_ms": round(took.total_seconds() * 1000),
        "metadata": {"subject": entry.subject, "status": entry.status, **entry.targets},
    }


def _buckets(counts: Sequence[AuditCount]) -> list[dict[str, object]]:
    by_time = {count.bucket: {c.action: c.calls for c in counts if c.bucket == count.bucket} for count in counts}
    return [{"time": time, "actions": actions, "total": sum(actions.values())} for time, actions in by_time.items()]
