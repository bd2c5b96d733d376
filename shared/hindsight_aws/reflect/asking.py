"""Words a run's model calls: one constant system text per prompt, everything that varies in data blocks.

Called by the step `call_model`; calls prompts.  The conversation only grows, so that a provider's cache may serve it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight_aws.banks.config import BankConfig
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, Tool, Turn
from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.contract import reflect as contract
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.reflect import calls
from hindsight_aws.reflect.evidence import as_block, fit
from hindsight_aws.reflect.request import ReflectJob
from hindsight_aws.reflect.state import CLOSING_TASK, SYNTHESIS_TASK, RunState
from hindsight_aws.reflect.transcript import Evidence, Transcript
from hindsight_aws.settings import Settings

TURN_PROMPT = "reflect_turn"
SYNTHESIS_PROMPT = "reflect_synthesis"
_TEMPERATURE = 0.9
_NEUTRAL = 3
_TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (contract.SEARCH_OBSERVATIONS, contract.RECALL, contract.EXPAND)
}
_DONE = contract.ending(calls.DONE)
_SYNTHESIS = contract.ending(SYNTHESIS_TASK)


@dataclass(frozen=True, slots=True)
class Asking:
    """What every call of a run is made from; `now` is the run's own present, the same for all its calls."""

    job: ReflectJob
    config: BankConfig
    settings: Settings
    now: datetime


def model_call(asking: Asking, state: RunState, task: str, transcript: Transcript) -> ModelCall:
    """The call for this task.  The question comes first, and once more after what was found."""
    blocks, history = _blocks(asking), transcript.turns
    if task == SYNTHESIS_TASK:
        evidence: list[JsonValue] = [*as_block(shown(state, transcript))]
        blocks, history = [*blocks, data_block("evidence", evidence)], ()
    elif history:
        history = (*history[:-1], _restated(asking, history[-1], task))
    is_turn = task not in (CLOSING_TASK, SYNTHESIS_TASK)
    text = prompt(SYNTHESIS_PROMPT if task == SYNTHESIS_TASK else TURN_PROMPT)
    ending = _SYNTHESIS if task == SYNTHESIS_TASK else _DONE
    return ModelCall(
        task=task,
        prompt=text.ref,
        model=asking.settings.hindsight_api_reflect_llm_model or asking.settings.hindsight_api_llm_model,
        system=text.text,
        blocks=tuple(blocks),
        max_tokens=asking.settings.hindsight_api_reflect_max_completion_tokens,
        tenant=str(asking.job.principal.tenant_id),
        bank=asking.job.bank,
        tools=(*_search_tools(state), ending) if task != SYNTHESIS_TASK else (ending,),
        forced_tool=None if is_turn else ending.name,
        any_tool=is_turn,
        temperature=_TEMPERATURE,
        history=history,
    )


def shown(state: RunState, transcript: Transcript) -> Sequence[Evidence]:
    """The evidence that the last call of this state had before it: what an answer may cite."""
    return fit(transcript.evidence, state.evidence_tokens) if state.evidence_tokens else transcript.evidence


def _search_tools(state: RunState) -> tuple[Tool, ...]:
    return tuple(_TOOLS[name] for name in state.limits.tools)


def _blocks(asking: Asking) -> list[str]:
    """The first user message: the settled things first, what changes with every question last."""
    request, config = asking.job.request, asking.config
    blocks = [data_block("bank", {"name": asking.job.bank})]
    if config.reflect_mission and config.reflect_mission.strip():
        blocks.append(data_block("mission", {"text": config.reflect_mission}))
    traits = _disposition(config)
    if traits:
        blocks.append(data_block("disposition", traits))
    blocks.append(data_block("now", {"utc": asking.now.strftime("%A, %Y-%m-%d %H:%M")}))
    blocks.append(data_block("length", {"tokens": request.max_tokens}))
    if request.context and request.context.strip():
        blocks.append(data_block("context", {"text": request.context}))
    return [*blocks, _question(asking)]


def _restated(asking: Asking, turn: Turn, task: str) -> Turn:
    if task == CLOSING_TASK:
        return replace(turn, closing=("The search is over: answer now with `done`.", _question(asking)))
    return replace(turn, closing=(_question(asking),))


def _question(asking: Asking) -> str:
    return data_block("question", {"text": asking.job.request.query})


def _disposition(config: BankConfig) -> JsonObject:
    traits = {
        "skepticism": config.disposition_skepticism,
        "literalism": config.disposition_literalism,
        "empathy": config.disposition_empathy,
    }
    return {name: value for name, value in traits.items() if value is not None and value != _NEUTRAL}
