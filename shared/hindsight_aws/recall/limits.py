"""How many candidates a recall considers, from the bank's settings.  Called by recall/recall.py."""

from __future__ import annotations

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.recall.request import Budget
from hindsight_aws.settings import Settings

MOST_RANKED = 300


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


def rerank_limit(settings: Settings, budget: Budget) -> int:
    """Candidates sent to a rerank model: it bills per hundred documents, and gains little further down.

    The number of the budget's own setting, where it is not 0, and no more than that of all.
    """
    most = settings.hindsight_api_reranker_max_candidates
    own = {
        Budget.LOW: settings.hindsight_api_reranker_max_candidates_low,
        Budget.MID: settings.hindsight_api_reranker_max_candidates_mid,
        Budget.HIGH: settings.hindsight_api_reranker_max_candidates_high,
    }
    return min(own[budget] or most, most)
