"""Candidate budgets."""

from __future__ import annotations

import pytest

from hindsight_aws.banks.config import BankConfig
from hindsight_aws.recall.limits import candidate_limit
from hindsight_aws.recall.request import Budget


@pytest.mark.parametrize(("budget", "expected"), [(Budget.LOW, 100), (Budget.MID, 300), (Budget.HIGH, 1000)])
def test_a_fixed_budget_is_the_banks_number(budget: Budget, expected: int) -> None:
    assert candidate_limit(BankConfig(), budget, 4096) == expected


@pytest.mark.parametrize(
    ("budget", "max_tokens", "expected"),
    [
        (Budget.LOW, 4096, 102),
        (Budget.MID, 4096, 307),
        (Budget.HIGH, 4096, 1024),
        (Budget.LOW, 100, 20),
        (Budget.HIGH, 100_000, 2000),
    ],
)
def test_an_adaptive_budget_follows_max_tokens_within_bounds(budget: Budget, max_tokens: int, expected: int) -> None:
    assert candidate_limit(BankConfig(recall_budget_function="adaptive"), budget, max_tokens) == expected
