"""Usage: what a bank's model calls came to.  A route of ours, for whoever answers for the bill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import require_whole_bank
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import window
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.model_gateway import TokenUsage
from hindsight_aws.ports.usage import UsageLine
from hindsight_aws.usage.allowance import parked

router = APIRouter(prefix="/v1/default/banks/{bank_id}/usage", route_class=ReportingRoute)


@router.get("")
async def get_bank_usage(
    call: CallDep, bank_id: str, start_date: str | None = None, end_date: str | None = None
) -> Response:
    """Calls, tokens and USD by task and model, from `start_date` on and before `end_date`; failed calls count too.

    A model that the price table does not know has `usd` null, and is counted in `unpriced_calls`: it was not free.
    `parked_until`, where it stands, is when model work goes on that waits for a daily limit of the tenant.
    """
    asked = window(None, "created_at", start_date, end_date)
    with call.bank(bank_id, Permission.READ) as seen:
        require_whole_bank(seen.principal)
        lines = seen.tx.usage.of_bank(seen.bank.bank_id, asked.start, asked.end)
        bank = seen.bank.external_id
        waits = parked(seen.tx, call.services.clock.now())
    told = {} if waits is None else {"parked_until": waits.until, "parked_because": str(waits)}
    return json_answer(
        {
            "bank_id": bank,
            "start_date": asked.start,
            "end_date": asked.end,
            "total": _counts(lines),
            "items": [{"task": line.task, "model": line.model, **_counts([line])} for line in lines],
            **told,
        }
    )


def _counts(lines: Sequence[UsageLine]) -> dict[str, object]:
    prices = [line.usd for line in lines if line.usd is not None]
    tokens = [asdict(line.tokens) for line in lines]
    return {
        "calls": sum(line.calls for line in lines),
        "failed_calls": sum(line.failed_calls for line in lines),
        **{f"{kind}_tokens": sum(each[kind] for each in tokens) for kind in asdict(TokenUsage())},
        "usd": float(sum(prices, Decimal(0))) if prices or not lines else None,
        "unpriced_calls": sum(line.unpriced_calls for line in lines),
    }
