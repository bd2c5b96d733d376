"""How many candidates a recall considers, from the bank's settings.  Called by recall/recall.py."""

from __future__ import annotations

from hindsight_aws.banks.config import BankConfig
from hindsight_aws.recall.request import Budget

MOST_RANKED = 300
_MOST_RERANKED = {Budget.LOW: 100, Budget.MID: 100, Budget.HIGH: 200}


def candidate_limit(config: BankConfig, budget: Budget, max_tokens: int) -> int:
    """Candidates per arm and fact type: fixed per budget, or in proportion to `max_tokens` within the bank's bounds."""
    if config.recall_budget_function.lower() != "adaptive":
        fixed = {
            Budget.LOW: config.recall_budget_fixed_low,
            Budget.MID: config.recall_budget_fixed_mid,
            Budget.HIGH: config.recall_budget_fixed_high,
        }
        return fixed[budget]
    shares = {
        Budget.LOW: config.recall_budget_adaptive_low,
        Budget.MID: config.recall_budget_adaptive_mid,
        Budget.HIGH: config.recall_budget_adaptive_high,
    }
    wanted = round(max_tokens * shares[budget])
    return min(max(wanted, config.recall_budget_min), config.recall_budget_max)


def rerank_limit(budget: Budget) -> int:
    """Candidates sent to a rerank model: it bills per hundred documents, and gains little further down."""
    return _MOST_RERANKED[budget]
