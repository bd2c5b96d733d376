"""The arithmetic of admission: calls that keep to their estimates never pass a limit, none is refused for nothing."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.limits import Limits, Reserved, Spent
from hindsight_aws.usage.admission import admitted, alerts, charged, used_up
from hindsight_aws.usage.estimate import Estimate

_usd = st.decimals(0, 20, places=4)
_tokens = st.integers(0, 20_000)
_limits = st.builds(
    Limits,
    tokens_per_day=st.none() | st.integers(1, 20_000),
    usd_per_day=st.none() | st.decimals("0.0001", 20, places=4),
    alert_share=st.decimals("0.1", 1, places=2),
)
_spent = st.builds(Spent, tokens=_tokens, usd=_usd, unpriced_input=_tokens, unpriced_output=_tokens)
_calls = st.lists(st.builds(Estimate, st.just("m"), st.integers(1, 9_000), st.none() | _usd), min_size=1, max_size=6)


@given(_limits, _spent, st.builds(Reserved, _usd, _tokens), _calls)
def test_what_is_admitted_fits_into_what_is_left(
    limits: Limits, spent: Spent, reserved: Reserved, wanted: list[Estimate]
) -> None:
    calls = wanted[: admitted(limits, spent, reserved, wanted).calls]

    if calls and limits.usd_per_day is not None:
        priced = [one.usd for one in calls if one.usd is not None]
        assert len(priced) == len(calls)
        assert charged(spent) + reserved.usd + sum(priced, Decimal(0)) <= limits.usd_per_day
    if calls and limits.tokens_per_day is not None:
        assert spent.tokens + reserved.tokens + sum(one.tokens for one in calls) <= limits.tokens_per_day


@given(_limits, _spent, _calls)
def test_nothing_is_only_busy_where_nothing_is_under_way(limits: Limits, spent: Spent, wanted: list[Estimate]) -> None:
    verdict = admitted(limits, spent, Reserved(), wanted)

    assert verdict.calls or verdict.limit is not None


@given(_limits, _spent, st.builds(Reserved, _usd, _tokens), _calls)
def test_calls_under_way_park_nobody(limits: Limits, spent: Spent, reserved: Reserved, wanted: list[Estimate]) -> None:
    with_them, without = admitted(limits, spent, reserved, wanted), admitted(limits, spent, Reserved(), wanted)

    assert with_them.calls <= without.calls
    assert with_them.limit == without.limit


@given(_limits, _spent)
def test_all_of_a_limit_is_told_where_it_is_used_up(limits: Limits, spent: Spent) -> None:
    reached = used_up(limits, spent)

    told = alerts(limits, spent)
    assert (reached is not None) == any(alert.spent >= alert.cap for alert in told)
    assert len({(alert.limit, alert.share) for alert in told}) == len(told)
