"""A bank's profile: what it is called and who it speaks as; a projection of its settings.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.model.bank import Bank

NEUTRAL_TRAIT = 3


@dataclass(frozen=True, slots=True)
class BankProfile:
    """The identity of a bank, with every trait from 1 to 5 and an empty mission where none is set."""

    external_id: str
    name: str
    skepticism: int
    literalism: int
    empathy: int
    mission: str


def profile(bank: Bank, config: BankConfig) -> BankProfile:
    """The profile of a bank under its resolved settings."""
    return BankProfile(
        external_id=bank.external_id,
        name=bank.label,
        skepticism=_trait(config.disposition_skepticism),
        literalism=_trait(config.disposition_literalism),
        empathy=_trait(config.disposition_empathy),
        mission=config.reflect_mission or "",
    )


def _trait(value: int | None) -> int:
    return NEUTRAL_TRAIT if value is None else value
