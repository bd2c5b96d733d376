"""Candidate budgets."""

from __future__ import annotations

import pytest

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.recall.limits import candidate_limit, rerank_limit
from hindsight_aws.recall.request import Budget
from hindsight_aws.settings import Settings


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


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, [100, 100, 200]),
        ({"hindsight_api_reranker_max_candidates": 150}, [100, 100, 150]),
        ({"hindsight_api_reranker_max_candidates_low": 0}, [300, 100, 200]),
        (
            {"hindsight_api_reranker_max_candidates_mid": 20, "hindsight_api_reranker_max_candidates_high": 40},
            [100, 20, 40],
        ),
    ],
)
def test_a_rerank_model_is_shown_as_many_as_the_budget_allows(changed: dict[str, int], expected: list[int]) -> None:
    settings = Settings().model_copy(update=changed)

    assert [rerank_limit(settings, budget) for budget in Budget] == expected
