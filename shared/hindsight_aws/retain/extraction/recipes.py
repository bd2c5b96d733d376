"""Resolves how each document's facts are made: the bank's settings under its strategy, and the extractor they ask for.

Called by the job and by submit; calls configuration.config and prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hindsight_aws.configuration.config import BankConfig, resolve
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import TenantId
from hindsight_aws.prompts import ExtractionMode
from hindsight_aws.retain.extraction.request import Extractor
from hindsight_aws.retain.extraction.vocabulary import vocabulary_of
from hindsight_aws.settings import Settings

CHUNKS: Final = "chunks"
"""The extraction mode in which no model is asked."""


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
    if not has_model or config.retain_extraction_mode.strip().lower() == CHUNKS:
        return Recipe(config, None)
    return Recipe(config, _extractor(settings, tenant_id, bank, config))


def _extractor(settings: Settings, tenant_id: TenantId, bank: Bank, config: BankConfig) -> Extractor:
    mode = mode_of(config)
    return Extractor(
        model=settings.hindsight_api_retain_llm_model or settings.hindsight_api_llm_model,
        mode=mode,
        mission=config.retain_mission,
        instructions=config.retain_custom_instructions if mode == "custom" else None,
        language=settings.hindsight_api_llm_output_language,
        vocabulary=vocabulary_of(config.entity_labels, config.entities_allow_free_form),
        asks_causes=settings.hindsight_api_retain_extract_causal_links,
        nullable=settings.hindsight_api_retain_optional_fact_dimensions,
        max_tokens=settings.hindsight_api_retain_max_completion_tokens,
        re_asks=settings.hindsight_api_retain_llm_max_retries,
        tenant=str(tenant_id),
        bank=bank.external_id,
    )


def mode_of(config: BankConfig) -> ExtractionMode:
    """The way of extraction that the settings come to: an unknown one, or `custom` without instructions, is concise."""
    match config.retain_extraction_mode.strip().lower():
        case "verbose":
            return "verbose"
        case "verbatim":
            return "verbatim"
        case "custom" if (config.retain_custom_instructions or "").strip():
            return "custom"
        case _:
            return "concise"
