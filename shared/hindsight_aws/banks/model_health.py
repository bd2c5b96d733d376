"""Whether the models that a bank's work is done with answer.  Called by the API; calls the model and the store."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from hindsight_aws.access import require, sees_bank
from hindsight_aws.errors import ModelDenied, ModelError, ModelThrottled, ModelUnavailable, NotFound, WorkDeferred
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import ModelCall, ModelUsage, TextModel
from hindsight_aws.ports.store import Store
from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.contract.consolidate import JUDGE_DUPLICATE
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.settings import Settings
from hindsight_aws.usage.allowance import Allowance, parked
from hindsight_aws.usage.ledger import ledger_entries

Status = Literal["connected", "not_configured", "auth_failed", "unreachable", "timeout"]
LONGEST_ANSWER_S: Final = 7.0
"""Three models one after the other stay within the 30 s that a gateway waits."""
LEDGER_TASK: Final = "health"
_MOST_TOKENS: Final = 256
_CANDIDATES: Final = data_block("candidates", {"new": {"text": "The door is shut."}, "existing": {"text": "It rains."}})


@dataclass(frozen=True, slots=True)
class OperationHealth:
    """Whether the model of an operation answers, and in how many milliseconds it did."""

    operation: str
    status: Status
    latency_ms: float | None

    @property
    def is_ok(self) -> bool:
        """Whether it answers."""
        return self.status == "connected"


def check(
    store: Store,
    model: TextModel | None,
    settings: Settings,
    principal: Principal,
    external_id: str,
    clock: Clock,
) -> Sequence[OperationHealth]:
    """Asks each text model of the server once, a call of a few tokens about two sentences of ours.

    Guarantees: at most three calls, each of them in the ledger.  A bank that is not there is answered alike.
    Raises: AccessDenied; NotFound where the check is switched off; LimitReached and ModelThrottled when the tenant may
    not spend what the calls may cost.
    """
    require(principal, Permission.WRITE)
    if not settings.hindsight_api_enable_bank_llm_health:
        raise NotFound("Bank LLM health is disabled. Set HINDSIGHT_API_ENABLE_BANK_LLM_HEALTH=true to enable it.")
    if model is None:
        return [OperationHealth(name, "not_configured", None) for name in _models(settings)]
    calls = {name: _call(name, principal, external_id) for name in _models(settings).values()}
    allowance = Allowance(principal.tenant_id, clock)
    _may_ask(store, principal, allowance, calls, clock)
    usages: list[ModelUsage] = []
    asked = {name: _ask(model, call, usages) for name, call in calls.items()}
    with store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id) if sees_bank(principal, external_id) else None
        told = [replace(usage, task=LEDGER_TASK) for usage in usages]
        tx.usage.record(ledger_entries(told, principal.subject, None if bank is None else bank.bank_id))
        allowance.settle(tx)
    return [OperationHealth(operation, *asked[name]) for operation, name in _models(settings).items()]


def _may_ask(
    store: Store, principal: Principal, allowance: Allowance, calls: Mapping[str, ModelCall], clock: Clock
) -> None:
    """Raises: LimitReached, or ModelThrottled where what is left is held by calls under way, unless all may be made."""
    with store.transaction(principal.tenant_id) as tx:
        refusal: WorkDeferred | None = parked(tx, clock.now())
        for name, call in calls.items():
            refusal = refusal or allowance.ask(tx, partial(dict, {name: call})).refusal
        if refusal is not None:
            allowance.settle(tx)
    if refusal is not None:
        raise refusal


def _models(settings: Settings) -> dict[str, str]:
    """The text model of each operation."""
    usual = settings.hindsight_api_llm_model
    return {
        "retain": settings.hindsight_api_retain_llm_model or usual,
        "consolidation": settings.hindsight_api_consolidation_llm_model or usual,
        "reflect": settings.hindsight_api_reflect_llm_model or usual,
    }


def _ask(model: TextModel, call: ModelCall, usages: list[ModelUsage]) -> tuple[Status, float]:
    started = time.monotonic()
    status: Status = "connected"
    try:
        model.ask(call, usages.append)
    except ModelDenied:
        status = "auth_failed"
    except ModelUnavailable:
        status = "timeout" if time.monotonic() - started >= LONGEST_ANSWER_S else "unreachable"
    except ModelThrottled:
        status = "unreachable"
    except ModelError:
        status = "connected"  # refused, cut or malformed: the model is there and answered
    return status, (time.monotonic() - started) * 1000


def _call(model: str, principal: Principal, external_id: str) -> ModelCall:
    """A call that any model behind the contract can answer: the smallest task there is."""
    asked = prompt(JUDGE_DUPLICATE.name)
    return ModelCall(
        task=JUDGE_DUPLICATE.name,
        prompt=asked.ref,
        model=model,
        system=asked.text,
        blocks=(_CANDIDATES,),
        max_tokens=_MOST_TOKENS,
        tenant=str(principal.tenant_id),
        bank=external_id,
        tools=JUDGE_DUPLICATE.tools,
        forced_tool=JUDGE_DUPLICATE.tools[0].name,
        temperature=0.0,
    )
