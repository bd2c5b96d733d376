"""`limits`: what a tenant may use in a day, and how it stands today.  Calls tenants/ with the owner's store."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentTypeError, Namespace
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final
from uuid import UUID

from hindsight_aws.cli.command import Answer, add, group
from hindsight_aws.cli.database import owner_store

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.model.limits import LimitName
    from hindsight_aws.ports.store import Store

_NONE: Final = "none"
_LEAST_USD: Final = Decimal("0.000000001")
_LEAST_SHARE: Final = Decimal("0.001")
"""As fine as the columns are."""
_CAPS: Final[dict[LimitName, str]] = {
    "requests_per_minute": "requests to the API in a minute",
    "requests_per_day": "requests to the API in a day",
    "tokens_per_day": "tokens that models read and write in a day",
    "usd_per_day": "USD that models may cost in a day",
}


def register(commands: Commands) -> None:
    """Adds the noun and its actions."""
    actions = group(commands, "limits", "what a tenant may use; a day is UTC, midnight to midnight")
    shown = add(actions, "show", show_limits, "show a tenant's limits, and what is used of them today")
    shown.add_argument("tenant", type=UUID)
    made = add(actions, "set", set_limits, "set limits; those not named stay, 'none' takes one away")
    made.add_argument("tenant", type=UUID)
    for name, says in _CAPS.items():
        read = _amount if name == "usd_per_day" else _whole
        made.add_argument(f"--{name.replace('_', '-')}", type=read, default=SUPPRESS, help=says)
    told = "share of a daily limit at which somebody is told; 0.8 by default"
    made.add_argument("--alert-share", type=_share, default=SUPPRESS, help=told)
    cleared = add(actions, "clear", clear_limits, "take all limits of a tenant away")
    cleared.add_argument("tenant", type=UUID)


def show_limits(chosen: Namespace) -> Answer:
    """Shows a tenant's limits, what is used of them today, and until when its model work waits, if it does."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.manage import show_tenant

    tenant_id = TenantId(chosen.tenant)
    with owner_store(chosen) as store:
        show_tenant(store, tenant_id)
        return _shown(store, tenant_id)


def set_limits(chosen: Namespace) -> Answer:
    """Sets the limits that are named, and shows all."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.model.limits import Limits
    from hindsight_aws.tenants.limits import set_limits as set_

    named = {name: getattr(chosen, name) for name in (*_CAPS, "alert_share") if hasattr(chosen, name)}
    tenant_id = TenantId(chosen.tenant)
    with owner_store(chosen) as store:
        set_(store, tenant_id, Limits(**named), named.keys())
        return _shown(store, tenant_id)


def clear_limits(chosen: Namespace) -> Answer:
    """Takes all limits of a tenant away; model work that waited goes on with the next sweep."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.limits import clear_limits as clear

    with owner_store(chosen) as store:
        had = clear(store, TenantId(chosen.tenant))
    told = "the tenant has no limits any more" if had else "the tenant had no limits"
    return Answer([told], {"tenant_id": chosen.tenant, "cleared": had})


def _shown(store: Store, tenant_id: TenantId) -> Answer:
    from hindsight_aws.model.limits import DAY, day_of
    from hindsight_aws.ports.clock import SystemClock
    from hindsight_aws.usage.admission import charged

    now = SystemClock().now()
    with store.transaction(tenant_id) as tx:
        limits = tx.limits.find()
        spent, parking = tx.limits.spent(day_of(now), day_of(now) + DAY), tx.limits.standing(now).parking
    used = {"usd_per_day": charged(spent), "tokens_per_day": spent.tokens, "requests_per_day": spent.requests}
    caps = {} if limits is None else asdict(limits)
    lines = [
        f"{name:<20} {_plain(caps.get(name)) or _NONE:>12}" + (f"   today {_plain(used[name])}" if name in used else "")
        for name in _CAPS
    ]
    if limits is not None:
        lines.append(f"{'alert_share':<20} {_plain(limits.alert_share):>12}")
    if parking is not None:
        lines.append(f"parked until {parking.until:%Y-%m-%d %H:%M:%S} UTC: {parking.reason}")
    document = {"limits": None if limits is None else caps, "today": used, "parking": parking and asdict(parking)}
    return Answer(lines, document)


def _plain(number: object) -> str:
    return "" if number is None else f"{number:.4f}" if isinstance(number, Decimal) else str(number)


def _whole(text: str) -> int | None:
    """A whole number above 0, or 'none'."""
    if text.lower() == _NONE:
        return None
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < 2**31:
        raise ArgumentTypeError("a whole number above 0, or 'none'")
    return int(text)


def _amount(text: str) -> Decimal | None:
    """An amount above 0 that the column holds, or 'none'."""
    if text.lower() == _NONE:
        return None
    amount = _decimal(text)
    if amount is None or not _LEAST_USD <= amount < 1_000_000_000:
        raise ArgumentTypeError(f"an amount above 0, {_LEAST_USD:f} at least, or 'none'")
    return amount


def _share(text: str) -> Decimal:
    """A share above 0."""
    share = _decimal(text)
    if share is None or not _LEAST_SHARE <= share <= 1:
        raise ArgumentTypeError(f"a share above 0, {_LEAST_SHARE} at least, and at most 1")
    return share


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
