"""From settings to the policy of one scope, and what tells that settings changed.

Pure; called by the drain, the rebuild, the scopes listing and the preview.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from hindsight_aws.configuration.config import BankConfig, server_defaults
from hindsight_aws.model.strategy import BankPolicy, Policy, parse, parse_limits, policy_for
from hindsight_aws.settings import Settings


def policy_of(config: BankConfig, scope: Sequence[str]) -> Policy:
    """What the scope with exactly these tags is consolidated under.

    Raises: InvalidRequest when the stored strategies do not hold to their form, which the doors refuse.
    """
    return policies_of(config)(scope)


def policies_of(config: BankConfig) -> Callable[[Sequence[str]], Policy]:
    """`policy_of` of many scopes of one bank, its strategies read once.  Raises as it does."""
    bank = BankPolicy(
        mission=config.observations_mission,
        max_observations=config.max_observations_per_scope,
        source_facts_max_tokens=config.consolidation_source_facts_max_tokens,
        source_facts_max_tokens_per_observation=config.consolidation_source_facts_max_tokens_per_observation,
        limits=parse_limits(_plain(config.observation_scope_limits)),
    )
    strategies = parse(_plain(config.consolidation_strategies))
    return lambda scope: policy_for(scope, strategies, bank)


def server_policy(settings: Settings) -> str:
    """A digest of the server's own settings that give scopes their missions; another one means: look again."""
    defaults = server_defaults(settings)
    parts = [defaults.observations_mission, _plain(defaults.consolidation_strategies)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _plain(value: Sequence[object] | None) -> list[object] | None:
    return None if value is None else list(value)
