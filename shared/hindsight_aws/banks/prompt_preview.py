"""The call that retain, consolidation or reflect would make of a model, worded by their own code and not made.

Called by the API; calls those three, and the store for what binds an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from hindsight_aws.configuration.config import BankConfig, resolve
from hindsight_aws.consolidate.ask import Revision, caller_of, revision_call
from hindsight_aws.consolidate.policy import policy_of
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.request import ReflectJob, ReflectRequest
from hindsight_aws.reflect.steps.begin import first_turn
from hindsight_aws.retain.extraction.passages import Passage
from hindsight_aws.retain.extraction.recipes import config_of, recipe_of
from hindsight_aws.retain.extraction.request import call_for
from hindsight_aws.settings import Settings

Operation = Literal["retain", "consolidation", "reflect"]
TEXT_IN_PLACE: Final = "(the text of a chunk)"
QUESTION_IN_PLACE: Final = "(the question)"
_NO_MODEL: Final = "HINDSIGHT_API_LLM_PROVIDER is none: no model is asked"


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """A call as it would be made, or why none would; the settings it is made under, and the strategies of retain."""

    call: ModelCall | None
    config: BankConfig
    strategy: str | None = None
    strategies: Sequence[str] = ()
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Previewed:
    """Whose call is looked at: an operation of a bank, asked by whom and when; a strategy is one of retain's."""

    principal: Principal
    bank: Bank
    operation: Operation
    strategy: str | None
    now: datetime


def preview(settings: Settings, tx: Transaction, asked: Previewed) -> PromptPreview:
    """The first call of the operation, with stand-ins for what is said only when it is made.

    Raises: InvalidRequest for a strategy that there is none of, or that the operation has none of.
    """
    has_model = settings.hindsight_api_llm_provider != "none"
    principal, bank = asked.principal, asked.bank
    if asked.operation == "retain":
        return _of_retain(settings, principal, bank, asked.strategy, has_model=has_model)
    if asked.strategy is not None:
        raise InvalidRequest(f"strategy: operation {asked.operation} has none; only retain has strategies")
    config = resolve(settings, bank.overrides)
    if not has_model:
        return PromptPreview(None, config, skipped=_NO_MODEL)
    if asked.operation == "reflect":
        job = ReflectJob(principal, bank.external_id, ReflectRequest(QUESTION_IN_PLACE))
        return PromptPreview(first_turn(settings, tx, bank, job, asked.now), config)
    if not config.enable_observations:
        return PromptPreview(None, config, skipped="enable_observations is false: nothing is consolidated")
    policy = policy_of(config, ())
    room = policy.max_observations if policy.max_observations >= 0 else None
    caller = caller_of(settings, principal.tenant_id, bank.external_id)
    return PromptPreview(revision_call(caller, policy, Revision(room=room)), config)


def _of_retain(
    settings: Settings, principal: Principal, bank: Bank, strategy: str | None, *, has_model: bool
) -> PromptPreview:
    own = resolve(settings, bank.overrides)
    known = sorted(own.retain_strategies or {})
    if strategy is not None and strategy not in known:
        raise InvalidRequest(f"strategy: the bank has no strategy {strategy[:60]!r}")
    applies = strategy or own.retain_default_strategy
    applies = applies if applies in known else None
    recipe = recipe_of(settings, principal.tenant_id, bank, applies, has_model=has_model)
    if recipe.extractor is None:
        why = _NO_MODEL if not has_model else "retain_extraction_mode is chunks: each chunk is kept as it is"
        return PromptPreview(None, config_of(settings, bank, applies), applies, known, why)
    return PromptPreview(call_for(recipe.extractor, Passage(TEXT_IN_PLACE)), recipe.config, applies, known)
