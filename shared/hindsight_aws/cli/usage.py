"""`usage`: what tenants' model calls came to.  Reads the ledger with the owner's store."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from uuid import UUID

from hindsight_aws.cli.command import Answer, add
from hindsight_aws.cli.database import owner_inspection, owner_store

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.ports.usage import UsageSum

_BY: Final = ("day", "bank", "task", "model")
_MOST_DAYS: Final = 3_660
_LEAST_WIDTH: Final = 31


def register(commands: Commands) -> None:
    """Adds the command."""
    asked = add(commands, "usage", show_usage, "what model calls came to, by tenant: calls, tokens, USD")
    asked.add_argument("--tenant", type=UUID, help="one tenant alone; default: all of them")
    asked.add_argument("--days", type=_days, default=30, help="today and the days before, UTC; 30 by default")
    asked.add_argument("--by", choices=_BY, default="day")


def show_usage(chosen: Namespace) -> Answer:
    """Shows calls, tokens and USD of each tenant, with totals; calls of unknown price are counted, never free."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.model.limits import DAY, day_of
    from hindsight_aws.ports.clock import SystemClock

    end = day_of(SystemClock().now()) + DAY
    start = end - DAY * chosen.days
    with owner_inspection(chosen) as inspection:
        tenants = [one for one in inspection.tenants() if chosen.tenant in (None, one.tenant_id)]
    lines: list[str] = []
    document: list[dict[str, object]] = []
    with owner_store(chosen) as store:
        for tenant in tenants:
            with store.transaction(TenantId(tenant.tenant_id)) as tx:
                sums = tx.usage.of_tenant(start, end, chosen.by)
            lines += [f"{tenant.tenant_id}  {tenant.name}", *_table(sums), ""]
            told = {"tenant_id": tenant.tenant_id, "name": tenant.name, "total": asdict(_total(sums))}
            document.append({**told, chosen.by: [asdict(one) for one in sums]})
    return Answer(lines[:-1], document)


def _table(sums: Sequence[UsageSum]) -> list[str]:
    """A line each under a head, then the total; names are never cut, as models of one family differ at their ends."""
    width = max([_LEAST_WIDTH, *(len(one.name) for one in sums)])
    head = f"  {'':<{width}}{'calls':>11}{'failed':>9}{'tokens in':>14}{'tokens out':>12}{'USD':>14}{'unpriced':>10}"
    return [head, *(_line(one, width) for one in (*sums, _total(sums)))]


def _line(one: UsageSum, width: int) -> str:
    usd = "unknown" if one.usd is None and one.unpriced_calls else f"{one.usd or Decimal(0):.6f}"
    counts = f"{one.calls:>11}{one.failed_calls:>9}{one.tokens.total_input:>14}{one.tokens.output:>12}"
    return f"  {one.name:<{width}}{counts}{usd:>14}{one.unpriced_calls:>10}"


def _total(sums: Sequence[UsageSum]) -> UsageSum:
    from hindsight_aws.ports.model_gateway import TokenUsage
    from hindsight_aws.ports.usage import UsageSum

    priced = [one.usd for one in sums if one.usd is not None]
    return UsageSum(
        name="total",
        calls=sum(one.calls for one in sums),
        failed_calls=sum(one.failed_calls for one in sums),
        tokens=TokenUsage(
            sum(one.tokens.input for one in sums),
            sum(one.tokens.output for one in sums),
            sum(one.tokens.cache_read for one in sums),
            sum(one.tokens.cache_write for one in sums),
        ),
        usd=sum(priced, Decimal(0)) if priced else None,
        unpriced_calls=sum(one.unpriced_calls for one in sums),
    )


def _days(text: str) -> int:
    """A number of days, today among them."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= _MOST_DAYS:
        raise ArgumentTypeError(f"a number of days from 1 to {_MOST_DAYS}")
    return int(text)
