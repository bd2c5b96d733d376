"""A bank's settings, resolved: the server's default of each, then what the bank overrides.

`resolve` is what every use case asks; `changed` is the one way in for new overrides.  Pure: the rows are ports/banks'.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import cast

from hindsight_aws.configuration.field import BankField, Kind, check_value, type_of
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.configuration.server_fields import is_credential, is_server_level
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.metric import Metric
from hindsight_aws.settings import Settings, WrongSetting
from hindsight_aws.telemetry import measure_once

PREFIX = "HINDSIGHT_API_"
LARGEST_CONFIG_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BankConfig:
    """Every setting of a bank with its resolved value; the defaults are those of a server on which nothing is set."""

    retain_chunk_size: int = 3000
    retain_structured_chunk_size: int | None = None
    retain_extraction_mode: str = "concise"
    retain_mission: str | None = None
    retain_custom_instructions: str | None = None
    retain_default_strategy: str | None = None
    retain_strategies: Mapping[str, object] | None = None
    retain_chunk_batch_size: int = 100
    retain_max_attachments_per_chunk: int = 8
    store_document_text: bool = True
    entity_labels: Sequence[object] | None = None
    entities_allow_free_form: bool = True
    memory_defense: Mapping[str, object] | None = None

    enable_observations: bool = True
    enable_auto_consolidation: bool = True
    observations_mission: str | None = None
    default_observation_scopes: str | Sequence[Sequence[str]] | None = None
    consolidation_strategies: Sequence[object] | None = None
    max_observations_per_scope: int = -1
    observation_scope_limits: Sequence[object] | None = None
    consolidation_llm_batch_size: int = 8
    consolidation_llm_parallelism: int = 4
    consolidation_max_memories_per_round: int = 100
    consolidation_source_facts_max_tokens: int = 4096
    consolidation_source_facts_max_tokens_per_observation: int = 256
    consolidation_use_decision_model: bool = True

    enable_text_search: bool = True
    enable_temporal_retrieval: bool = True
    enable_graph_retrieval: bool = True
    enable_reranking: bool = True
    recall_prefer_observations: bool = False
    recall_budget_function: str = "fixed"
    recall_budget_fixed_low: int = 100
    recall_budget_fixed_mid: int = 300
    recall_budget_fixed_high: int = 1000
    recall_budget_adaptive_low: float = 0.025
    recall_budget_adaptive_mid: float = 0.075
    recall_budget_adaptive_high: float = 0.25
    recall_budget_min: int = 20
    recall_budget_max: int = 2000
    recall_include_chunks: bool = True
    recall_max_tokens: int = 2048
    recall_chunks_max_tokens: int = 1000

    reflect_mission: str | None = None
    disposition_skepticism: int | None = None
    disposition_literalism: int | None = None
    disposition_empathy: int | None = None
    reflect_source_facts_max_tokens: int = -1
    reflect_default_options: Mapping[str, object] | None = None
    mental_model_min_refresh_interval_seconds: int = 300
    knowledge_page_default_trigger: Mapping[str, object] | None = None
    reflect_use_decision_model: bool = True
    mental_model_refresh_use_decision_model: bool = True
    mental_model_delta_use_decision_model: bool = True

    mcp_enabled_tools: Sequence[str] | None = None
    audit_log_enabled: bool = False
    llm_gemini_safety_settings: Sequence[object] | None = None

    volatile_tags: Sequence[str] = ("session:*",)
    near_duplicates: str = "suggest"
    verify_directives: bool = True
    recall_strategy_boosts: Mapping[str, str] | None = None

    @property
    def consolidates_by_itself(self) -> bool:
        """Whether scopes with new work are woken without anybody's asking."""
        return self.enable_observations and self.enable_auto_consolidation

    def as_mapping(self) -> dict[str, object]:
        """Every setting by name, as JSON values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


DEFAULTS: Mapping[str, object] = {field.name: field.default for field in fields(BankConfig)}


def resolve(settings: Settings, overrides: Mapping[str, object]) -> BankConfig:
    """The settings a bank works with: the server's, where the bank overrides nothing.

    A stored value that is wrong, as an older version may have left it, counts as absent: it never stops a bank.

    Raises: WrongSetting when an environment variable of the server holds a wrong value.
    """
    server = server_defaults(settings)
    own = {name: value for name, value in overrides.items() if _is_sound(name, value)}
    return replace(server, **own) if own else server  # type: ignore[arg-type]  # each was checked against its field


def server_defaults(settings: Settings) -> BankConfig:
    """What a bank without overrides works with; the settings that workers read too stand in Settings.

    Raises: WrongSetting, naming the variable.
    """
    try:
        config = _from_environment(settings.bank_defaults)
        _check_chunk_size(f"{PREFIX}RETAIN_CHUNK_SIZE", config.retain_chunk_size, settings)
    except InvalidRequest as wrong:
        measure_once(Metric.WRONG_DEFAULT)
        raise WrongSetting(str(wrong)) from None
    except WrongSetting:
        measure_once(Metric.WRONG_DEFAULT)
        raise
    return replace(
        config,
        enable_observations=settings.hindsight_api_enable_observations,
        enable_auto_consolidation=settings.hindsight_api_enable_auto_consolidation,
        volatile_tags=list(settings.hindsight_volatile_tags),
    )


def changed(settings: Settings, overrides: Mapping[str, object], updates: Mapping[str, object]) -> dict[str, object]:
    """The overrides after a PATCH: updates laid over them, a null taking one away.

    Raises: InvalidRequest for a name, a value or a combination that is not allowed; nothing is half applied.
    """
    named = {_field_name(key): value for key, value in updates.items()}
    _refuse_foreign(named)
    for name, value in named.items():
        if value is not None:
            check_value(FIELDS[name], value)
    _check_strategies_of_retain(settings, named.get("retain_strategies"))
    after = {**overrides, **named}
    after = {name: value for name, value in after.items() if value is not None}
    _check_together(settings, resolve(settings, after))
    _refuse_unstorable(after)
    return after


def _is_sound(name: str, value: object) -> bool:
    if name not in FIELDS or value is None:
        return False
    try:
        check_value(FIELDS[name], value)
    except InvalidRequest:
        return False
    return True


def _field_name(key: str) -> str:
    return key.removeprefix(PREFIX).lower() if key.startswith(PREFIX) else key


def _refuse_foreign(named: Mapping[str, object]) -> None:
    foreign = sorted(name for name in named if name not in FIELDS)
    credentials = [name for name in foreign if is_credential(name)]
    if credentials:
        raise InvalidRequest(f"Cannot set credential fields via API: {_listed(credentials)}")
    static = [name for name in foreign if is_server_level(name)]
    if static:
        raise InvalidRequest(f"Cannot override static (server-level) fields: {_listed(static)}")
    if foreign:
        raise InvalidRequest(f"Unknown configuration fields: {_listed(foreign)}")


def _listed(names: Sequence[str]) -> list[str]:
    return [name[:100] for name in names[:20]]


def _check_together(settings: Settings, config: BankConfig) -> None:
    _check_chunk_size("retain_chunk_size", config.retain_chunk_size, settings)
    if config.recall_budget_min > config.recall_budget_max:
        raise InvalidRequest(
            f"recall_budget_min ({config.recall_budget_min}) must be at most "
            f"recall_budget_max ({config.recall_budget_max})"
        )


def _check_chunk_size(name: str, size: int, settings: Settings) -> None:
    if size >= settings.hindsight_api_retain_max_completion_tokens:
        raise InvalidRequest(
            f"{name} ({size}) must be below {PREFIX}RETAIN_MAX_COMPLETION_TOKENS "
            f"({settings.hindsight_api_retain_max_completion_tokens})"
        )


def _check_strategies_of_retain(settings: Settings, value: object) -> None:
    if not isinstance(value, dict):
        return
    for strategy, bundle in value.items():
        where = f"retain_strategies[{str(strategy)[:60]!r}]"
        if not str(strategy).strip():
            raise InvalidRequest("retain_strategies must not have a blank name")
        if not isinstance(bundle, dict):
            raise InvalidRequest(f"{where} must be an object, got {type_of(bundle)}")
        unknown = sorted(name for name in bundle if name not in FIELDS or name == "retain_strategies")
        if unknown:
            raise InvalidRequest(f"{where} has unknown keys: {_listed(unknown)}")
        for name, setting in bundle.items():
            if setting is not None:
                check_value(replace(FIELDS[name], name=f"{where}.{name}"), setting)
        size = bundle.get("retain_chunk_size")
        if isinstance(size, int):
            _check_chunk_size(f"{where}.retain_chunk_size", size, settings)


def _refuse_unstorable(overrides: Mapping[str, object]) -> None:
    """Postgres keeps no NUL and no lone surrogate, and JSON no infinity; a value is refused, never altered."""
    for name, value in overrides.items():
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            text.encode()
        except (ValueError, RecursionError):
            raise InvalidRequest(f"{name} holds text or a number that cannot be stored") from None
        if "\\u0000" in text:
            raise InvalidRequest(f"{name} must not contain NUL characters")
        if len(text) > LARGEST_CONFIG_CHARACTERS:
            raise InvalidRequest(
                f"{name} is too long: at most {LARGEST_CONFIG_CHARACTERS} characters of JSON are allowed"
            )


@cache
def _from_environment(raw: tuple[tuple[str, str], ...]) -> BankConfig:
    values: dict[str, object] = {}
    for name, text in raw:
        field = FIELDS.get(name)
        if field is not None:
            values[name] = _parsed(field, text)
    return replace(BankConfig(), **values)  # type: ignore[arg-type]  # each was checked against its field


def _parsed(field: BankField, text: str) -> object:
    variable = f"{PREFIX}{field.name.upper()}"
    try:
        value = text if field.kind is Kind.STRING else _json_or_word(field.kind, text)
        check_value(replace(field, name=variable), value)
    except InvalidRequest as wrong:
        raise WrongSetting(str(wrong)) from None
    return value


def _json_or_word(kind: Kind, text: str) -> object:
    if kind is Kind.BOOLEAN and text.strip().lower() in ("true", "false", "1", "0", "yes", "no", "on", "off"):
        return text.strip().lower() in ("true", "1", "yes", "on")
    try:
        value = cast(object, json.loads(text))
    except ValueError:
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value
