"""From a bank's settings to the policy of one scope.  Pure; called by the drain, the scopes listing and the preview."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.banks.config import BankConfig
from hindsight_aws.model.strategy import BankPolicy, Policy, parse, parse_limits, policy_for


def policy_of(config: BankConfig, scope: Sequence[str]) -> Policy:
    """What the scope with exactly these tags is consolidated under.

    Raises: InvalidRequest when the stored strategies do not hold to their form, which the doors refuse.
    """
    bank = BankPolicy(
        mission=config.observations_mission,
        max_observations=config.max_observations_per_scope,
        source_facts_max_tokens=config.consolidation_source_facts_max_tokens,
        source_facts_max_tokens_per_observation=config.consolidation_source_facts_max_tokens_per_observation,
        limits=parse_limits(_plain(config.observation_scope_limits)),
    )
    return policy_for(scope, parse(_plain(config.consolidation_strategies)), bank)


def _plain(value: Sequence[object] | None) -> list[object] | None:
    return None if value is None else list(value)
