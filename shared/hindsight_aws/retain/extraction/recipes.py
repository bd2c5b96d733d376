"""Resolves how each document's facts are made: the bank's settings under its strategy, and the extractor they ask for.

Called by the job and by submit; calls banks.config and prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hindsight_aws.banks.config import BankConfig, resolve
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import TenantId
from hindsight_aws.prompts import prompt
from hindsight_aws.retain.extraction.extract import Extractor
from hindsight_aws.settings import Settings

CHUNKS: Final = "chunks"
"""The extraction mode in which no model is asked; every other mode is read as `concise` for now."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a document's facts are made: the bank's settings under its strategy; no extractor: chunks as they are."""

    config: BankConfig
    extractor: Extractor | None


def config_of(settings: Settings, bank: Bank, strategy: str | None) -> BankConfig:
    """The bank's settings under the strategy, or its default one; a name the bank does not know changes nothing."""
    config = resolve(settings, bank.overrides)
    bundle = (config.retain_strategies or {}).get(strategy or config.retain_default_strategy or "")
    return resolve(settings, {**bank.overrides, **bundle}) if isinstance(bundle, Mapping) else config


def recipe_of(settings: Settings, tenant_id: TenantId, bank: Bank, strategy: str | None, *, has_model: bool) -> Recipe:
    """How a document under this strategy is made into facts."""
    config = config_of(settings, bank, strategy)
    if not has_model or config.retain_extraction_mode == CHUNKS:
        return Recipe(config, None)
    extractor = Extractor(
        model=settings.hindsight_api_retain_llm_model or settings.hindsight_api_llm_model,
        prompt=prompt("extract_facts"),
        mission=config.retain_mission,
        max_tokens=settings.hindsight_api_retain_max_completion_tokens,
        tenant=str(tenant_id),
        bank=bank.external_id,
    )
    return Recipe(config, extractor)
