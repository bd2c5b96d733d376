"""Reads a bank's screening policy, and reads it closed: one that cannot be read lets nothing in.

Called by retain/admit and by curation; calls configuration and model/screening.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_aws.configuration.config import resolve
from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.screening import ScreeningPolicy, parse_policy
from hindsight_aws.settings import Settings

_FIELD: Final = "memory_defense"


def policy_of(settings: Settings, bank: Bank, strategy: str | None) -> ScreeningPolicy:
    """The policy of items under the strategy: its own, else the bank's, else the server's.

    Every other setting counts as absent where it is wrong; this one is read as it is stored.

    Raises: InvalidField where it is not well formed.
    """
    config = resolve(settings, bank.overrides)
    bundle = (config.retain_strategies or {}).get(strategy or config.retain_default_strategy or "")
    stated = bundle.get(_FIELD) if isinstance(bundle, Mapping) else None
    if stated is None:
        stated = bank.overrides.get(_FIELD)
    if stated is None:
        stated = config.memory_defense
    try:
        return parse_policy(stated, _FIELD)
    except InvalidRequest as wrong:
        raise InvalidField(_FIELD, f"is not a policy that can be followed, so nothing is stored: {wrong}") from None
