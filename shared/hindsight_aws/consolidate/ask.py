"""The two questions consolidation asks a model: what do these facts change, and are these two texts the same claim?

Called by the drain and by reconcile; calls the text model.  All material goes into data blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_aws.consolidate.reply import Reply, read_reply
from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.plan import ShownFact, ShownObservation
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall, TextModel, UsageSink
from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.contract.consolidate import CONSOLIDATE, JUDGE_DUPLICATE
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.settings import Settings
from hindsight_aws.usage.metered import counting_refusals

_DEFAULT_MISSION = "Keep whatever looks worth remembering about any subject."
_REVISION_TOKENS = 8_192
_JUDGEMENT_TOKENS = 1_024


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a call is made, and of which model."""

    model: str
    tenant: str
    bank: str


def caller_of(settings: Settings, tenant_id: TenantId, bank: str) -> Caller:
    """On whose behalf the bank's scopes are consolidated, and by which model."""
    model = settings.hindsight_api_consolidation_llm_model or settings.hindsight_api_llm_model
    return Caller(model, str(tenant_id), bank)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether two texts are one claim; `text` is the joint wording, or None to keep the older one."""

    is_same: bool
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """What a revision is asked of: facts, what is believed in their scope, and how many beliefs may still be made."""

    facts: Sequence[ShownFact] = ()
    observations: Sequence[ShownObservation] = ()
    room: int | None = None
    was_refused: bool = False


def revision_call(caller: Caller, policy: Policy, revision: Revision) -> ModelCall:
    """The call that asks what these facts of one scope change."""
    blocks = [data_block("mission", {"text": policy.mission or _DEFAULT_MISSION})]
    if revision.room is not None:
        blocks.append(data_block("capacity", {"remaining": revision.room}))
    if revision.was_refused:
        refused: JsonObject = {"action": "delete", "reason": "merged_into must name another shown observation"}
        blocks.append(data_block("refused", [refused]))
    blocks.append(data_block("facts", [_fact(fact) for fact in revision.facts]))
    blocks.append(data_block("observations", [_observation(observation) for observation in revision.observations]))
    asked = prompt("consolidate")
    return ModelCall(
        task=CONSOLIDATE.name,
        prompt=asked.ref,
        model=caller.model,
        system=asked.text,
        blocks=tuple(blocks),
        max_tokens=_REVISION_TOKENS,
        tenant=caller.tenant,
        bank=caller.bank,
        tools=CONSOLIDATE.tools,
        forced_tool=CONSOLIDATE.tools[0].name,
        temperature=0.0,
    )


def judgement_call(caller: Caller, new: str, existing: str) -> ModelCall:
    """The call that asks whether two texts make the same claim."""
    asked = prompt("judge_duplicate")
    return ModelCall(
        task=JUDGE_DUPLICATE.name,
        prompt=asked.ref,
        model=caller.model,
        system=asked.text,
        blocks=(data_block("candidates", {"new": {"text": new}, "existing": {"text": existing}}),),
        max_tokens=_JUDGEMENT_TOKENS,
        tenant=caller.tenant,
        bank=caller.bank,
        tools=JUDGE_DUPLICATE.tools,
        forced_tool=JUDGE_DUPLICATE.tools[0].name,
        temperature=0.0,
    )


def ask_for_revision(model: TextModel, call: ModelCall, usage: UsageSink) -> Reply:
    """What the model makes of the facts of one scope.

    Raises: ModelReplyMalformed and whatever the model raises.
    """
    said = model.ask(call, usage).tool_input
    with counting_refusals(call):
        return read_reply(said)


def ask_for_judgement(model: TextModel, call: ModelCall, usage: UsageSink) -> Judgement:
    """Whether both texts make the same claim.  A malformed answer keeps them apart: that loses nothing."""
    try:
        reply = model.ask(call, usage)
    except ModelReplyMalformed:
        return Judgement(is_same=False)
    action, text = reply.tool_input.get("action"), reply.tool_input.get("text")
    is_same = isinstance(action, str) and action.strip().lower() == "merge"
    has_words = isinstance(text, str) and any(char.isalnum() for char in text)
    return Judgement(is_same, text.strip() if isinstance(text, str) and has_words else None)


def _fact(fact: ShownFact) -> JsonObject:
    return {"id": str(fact.id), "text": fact.text} | _dates(fact.occurred_start, fact.occurred_end, fact.mentioned_at)


def _observation(observation: ShownObservation) -> JsonObject:
    shown: JsonObject = {
        "id": str(observation.id),
        "text": observation.text,
        "proof_count": max(1, observation.proof_count),
        "evidence": [
            {"text": source.text, "dates": _dates(source.occurred_start, source.occurred_end, source.mentioned_at)}
            for source in observation.evidence
        ],
    }
    dates = _dates(observation.occurred_start, observation.occurred_end, observation.mentioned_at)
    return shown | {"dates": dates} if dates else shown


def _dates(start: datetime | None, end: datetime | None, mentioned: datetime | None) -> JsonObject:
    named = {"occurred_start": start, "occurred_end": end, "mentioned_at": mentioned}
    return {name: moment.isoformat(timespec="minutes") for name, moment in named.items() if moment is not None}
