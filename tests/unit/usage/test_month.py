"""The estimate of a month: hand-reckoned examples, and what must hold of any."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.cli import main
from hindsight_aws.usage.month import DEPLOYMENTS, Line, Models, Traffic, idle, total, traffic

_HAIKU = Models("global.anthropic.claude-haiku-4-5", "amazon.titan-embed-text-v2:0")
_calls = st.integers(0, 10**9)


def usd(lines: list[Line], what: str) -> Decimal:
    (found,) = [line.usd for line in lines if line.what.startswith(what)]
    assert found is not None
    return Decimal(found)


def test_a_month_without_a_call_adds_nothing() -> None:
    assert total(traffic(Traffic(), _HAIKU)) == 0


def test_an_extraction_reads_the_prompt_and_the_text_and_writes_the_facts() -> None:
    lines = traffic(Traffic(retains=1000, tokens=500, facts=2), _HAIKU)

    # 1,000 x (2,250 + 500) tokens at 1 USD and 1,000 x 2 x 90 at 5 USD a million.
    assert usd(lines, "extraction") == Decimal("2.75") + Decimal("0.90")


def test_six_facts_of_a_scope_share_a_call() -> None:
    alone = traffic(Traffic(retains=600, facts=1), _HAIKU)
    in_two = traffic(Traffic(retains=600, facts=1, scopes=2), _HAIKU)

    assert usd(in_two, "consolidation") == 2 * usd([*alone], "consolidation")
    # 100 x 1,750 + 600 x 400 tokens read at 1 USD, 600 x 80 written at 5 USD a million.
    assert usd(alone, "consolidation") == Decimal("0.415") + Decimal("0.24")


def test_a_database_that_pauses_costs_its_active_hours_only() -> None:
    assert usd(idle(DEPLOYMENTS["dev"], 0), "database") == 0
    assert usd(idle(DEPLOYMENTS["dev"], 10), "database") == Decimal("0.6")
    assert usd(idle(DEPLOYMENTS["prod"], 10), "database") == usd(idle(DEPLOYMENTS["prod"], 700), "database")


@given(_calls, _calls, _calls)
def test_more_of_anything_never_costs_less(retains: int, recalls: int, reflects: int) -> None:
    fewer = total(traffic(Traffic(retains, recalls, reflects), _HAIKU))

    for more in (
        Traffic(retains + 1, recalls, reflects),
        Traffic(retains, recalls + 1, reflects),
        Traffic(retains, recalls, reflects + 1),
        Traffic(retains, recalls, reflects, scopes=2),
        Traffic(retains, recalls, reflects, tokens=301),
    ):
        dearer = total(traffic(more, _HAIKU))
        assert fewer is not None
        assert dearer is not None
        assert dearer >= fewer


def test_a_model_without_a_price_makes_the_sum_unknown_not_lower() -> None:
    lines = traffic(Traffic(retains=10), Models("somebody.else-9", "amazon.titan-embed-text-v2:0"))

    assert total(lines) is None


def test_the_command_sums_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--retains", "1000", "--profile", "prod", "--model", "somebody.else-9"]) == 0

    said = capsys.readouterr().out
    assert "unknown  extraction (somebody.else-9): 1,000 calls" in said
    assert "together unknown" in said


def test_a_count_that_is_none_is_refused_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["cost", "--recalls", "-3"])

    assert ended.value.code == 2
    assert "a whole number, 0 or more" in capsys.readouterr().err
