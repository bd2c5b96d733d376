"""Whether a day's limits let further calls be made.  Pure; called by usage/allowance.py.

A call is admitted only where what is spent, the most that calls under way may cost, and the most that it may cost
itself come to no more than the limit: calls that keep to their estimates never pass it, however many workers ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from hindsight_aws.model.limits import LimitAlert, LimitName, Limits, Reserved, Spent
from hindsight_aws.usage.estimate import Estimate, unpriced_usd


@dataclass(frozen=True, slots=True)
class Admission:
    """How many of the calls asked about may be made, from the first on.

    None of them: `limit` and `reason` say what is used up for the day; without these it is only held by calls under
    way, and what they do not use is there again soon.
    """

    calls: int
    limit: LimitName | None = None
    reason: str | None = None


def admitted(limits: Limits, spent: Spent, reserved: Reserved, wanted: Sequence[Estimate]) -> Admission:
    """What the limits say of these calls, of which the first must fit for any to be made."""
    first = wanted[0]
    if (refused := _refused(limits, spent, first)) is not None:
        return refused
    calls, usd, tokens = 0, reserved.usd, reserved.tokens
    for one in wanted:
        usd, tokens = usd + (one.usd or Decimal(0)), tokens + one.tokens
        if one.usd is None and limits.usd_per_day is not None:
            break
        if _is_over(limits.usd_per_day, charged(spent) + usd) or _is_over(limits.tokens_per_day, spent.tokens + tokens):
            break
        calls += 1
    return Admission(calls)


def charged(spent: Spent) -> Decimal:
    """USD that count against the limit: calls without a price count for the dearest."""
    return spent.usd + unpriced_usd(spent.unpriced_input, spent.unpriced_output)


def used_up(limits: Limits, spent: Spent) -> Admission | None:
    """The limit on models that is reached, whatever is asked next; None when there is something left of each."""
    usd, tokens = charged(spent), spent.tokens
    if limits.usd_per_day is not None and usd >= limits.usd_per_day:
        return Admission(0, "usd_per_day", f"{_usd(usd)} of {_usd(limits.usd_per_day)} USD a day are spent")
    if limits.tokens_per_day is not None and tokens >= limits.tokens_per_day:
        return Admission(0, "tokens_per_day", f"{tokens} of {limits.tokens_per_day} tokens a day are used")
    return None


def alerts(limits: Limits, spent: Spent, parks: LimitName | None = None) -> list[LimitAlert]:
    """Shares of daily limits that are reached; of the limit that `parks`, all of it."""
    found = []
    for name, used, cap in _daily(limits, spent):
        if used >= cap * limits.alert_share or name == parks:
            found.append(LimitAlert(name, limits.alert_share, used, cap))
        if (used >= cap or name == parks) and limits.alert_share < 1:
            found.append(LimitAlert(name, Decimal(1), used, cap))
    return found


def _daily(limits: Limits, spent: Spent) -> list[tuple[LimitName, Decimal, Decimal]]:
    caps: list[tuple[LimitName, Decimal, Decimal | int | None]] = [
        ("usd_per_day", charged(spent), limits.usd_per_day),
        ("tokens_per_day", Decimal(spent.tokens), limits.tokens_per_day),
        ("requests_per_day", Decimal(spent.requests), limits.requests_per_day),
    ]
    return [(name, used, Decimal(cap)) for name, used, cap in caps if cap is not None]


def _refused(limits: Limits, spent: Spent, first: Estimate) -> Admission | None:
    """Why the call cannot be made today even if nothing else is under way."""
    if (reached := used_up(limits, spent)) is not None:
        return reached
    if limits.usd_per_day is not None:
        if first.usd is None:
            return Admission(0, "usd_per_day", f"there is a limit in USD, and the price of {first.model} is not known")
        if charged(spent) + first.usd > limits.usd_per_day:
            spare = f"{_usd(charged(spent))} of {_usd(limits.usd_per_day)} USD a day are spent"
            return Admission(0, "usd_per_day", f"{spare}, and the next call may cost {_usd(first.usd)}")
    if limits.tokens_per_day is not None and spent.tokens + first.tokens > limits.tokens_per_day:
        spare = f"{spent.tokens} of {limits.tokens_per_day} tokens a day are used"
        return Admission(0, "tokens_per_day", f"{spare}, and the next call may use {first.tokens}")
    return None


def _is_over(cap: Decimal | int | None, sum_: Decimal | int) -> bool:
    return cap is not None and sum_ > cap


def _usd(usd: Decimal) -> str:
    return f"{usd:.4f}"
