"""Words a run's model calls: one constant system text per prompt, everything that varies in data blocks.

Called by the step `call_model`, whichever its task; calls prompts.  The conversation only grows, so that a provider's
cache may serve it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, Tool, Turn
from hindsight_aws.ports.page_keeper import DataBlock
from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.contract import TASKS
from hindsight_aws.prompts.contract import reflect as contract
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.reflect.asking.compliance import Rule, broken_block, rules_block
from hindsight_aws.reflect.asking.disposition import described
from hindsight_aws.reflect.asking.structure import structured_tool
from hindsight_aws.reflect.conversation import calls
from hindsight_aws.reflect.conversation.evidence import Evidence, as_block, fit
from hindsight_aws.reflect.conversation.transcript import Transcript
from hindsight_aws.reflect.loop.state import (
    CLAIMS_TASK,
    CLOSING_TASK,
    DOCUMENT_TASK,
    RETRACT_TASK,
    REWRITE_TASK,
    STRUCTURE_TASK,
    SYNTHESIS_TASK,
    TURN_TASK,
    VERIFY_TASK,
    RunState,
)
from hindsight_aws.reflect.request import ReflectJob
from hindsight_aws.settings import Settings

_TEMPERATURE = 0.9
_MECHANICAL = 0.0
_TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in contract.SEARCH_TOOLS}
_SPOKEN = frozenset({TURN_TASK, CLOSING_TASK})
_SETTLED = frozenset({TURN_TASK, CLOSING_TASK, SYNTHESIS_TASK})
_WORDED = frozenset({TURN_TASK, CLOSING_TASK, SYNTHESIS_TASK, REWRITE_TASK})
_UNRULED = frozenset({CLAIMS_TASK, STRUCTURE_TASK, RETRACT_TASK})
_WITHOUT_QUESTION = frozenset({VERIFY_TASK})
_OF_ANSWER = frozenset({REWRITE_TASK, VERIFY_TASK, STRUCTURE_TASK})
_UNEVIDENCED = frozenset({*_SPOKEN, *_OF_ANSWER, RETRACT_TASK})


@dataclass(frozen=True, slots=True)
class Asking:
    """What every call of a run is made from; `now` is the run's own present, the same for all its calls.

    `blocks` are shown with each ending of a page, by task.  `rules` are the directives that bind the run; `name` is
    what the bank is called.
    """

    job: ReflectJob
    config: BankConfig
    settings: Settings
    now: datetime
    blocks: Mapping[str, tuple[DataBlock, ...]] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """What a call without the conversation is made from: evidence, or the claims that were drawn from it."""

    evidence: Sequence[Evidence] = ()
    claims: Sequence[JsonObject] | None = None


def model_call(
    asking: Asking, state: RunState, task: str, transcript: Transcript, material: Material | None = None
) -> ModelCall:
    """The call for this task.

    Directives stand first and last, the question at the end of what is shown; no sentence of a bank, of a caller or of
    a memory stands outside a data block.
    """
    blocks, history = _said(asking, state, task, transcript, material or Material())
    tools, forced = _tools(asking, state, task)
    text = prompt(TURN_TASK if task in _SPOKEN else task)
    return ModelCall(
        task=task,
        prompt=text.ref,
        model=asking.settings.hindsight_api_reflect_llm_model or asking.settings.hindsight_api_llm_model,
        system=_about(text.text, tools) if task in _SPOKEN else text.text,
        blocks=blocks,
        max_tokens=asking.settings.hindsight_api_reflect_max_completion_tokens,
        tenant=str(asking.job.principal.tenant_id),
        bank=asking.job.bank,
        tools=tools,
        forced_tool=forced,
        any_tool=forced is None,
        temperature=_TEMPERATURE if task in _WORDED else _MECHANICAL,
        history=history,
    )


def shown(state: RunState, transcript: Transcript) -> Sequence[Evidence]:
    """The evidence that the last call of this state had before it: what an answer may cite."""
    if not state.evidence_tokens or state.chunks:
        return transcript.evidence
    return fit(transcript.evidence, state.evidence_tokens)


def _said(
    asking: Asking, state: RunState, task: str, transcript: Transcript, material: Material
) -> tuple[tuple[str, ...], tuple[Turn, ...]]:
    """The blocks of the first message, and the conversation after it."""
    rules = _rules(asking) if task not in _UNRULED else []
    question = [] if task in _WITHOUT_QUESTION else [_question(asking)]
    settled = _settled(asking) if task in _SETTLED else []
    problem = [data_block("problem", {"reason": state.problem})] if state.problem else []
    if task in _SPOKEN and transcript.turns:
        call_to_end = ["The search is over: answer now with `done`."] if task == CLOSING_TASK else []
        last = (*call_to_end, *rules, *question, *_language(asking), *problem)
        history = (*transcript.turns[:-1], replace(transcript.turns[-1], closing=last))
        return (*rules, *settled, *question), history
    about = _shown_with(asking, state, task, material)
    if task in _OF_ANSWER:
        return (*rules, *question, *about, *problem), ()
    language = _language(asking) if task in _SETTLED else []
    again = [*rules, *question] if about else rules
    return (*rules, *settled, *question, *about, *again, *language, *problem), ()


def _tools(asking: Asking, state: RunState, task: str) -> tuple[tuple[Tool, ...], str | None]:
    """The tools of a call, and the one it must use: in a search turn that is what the state forces, if anything."""
    bound = bool(asking.rules)
    if task in _SPOKEN:
        done = contract.ending(calls.DONE, directives=bound)
        last = done if state.limits.answers else contract.ANSWER_READY
        searches = tuple(_TOOLS[name] for name in state.limits.tools)
        return (*searches, last), done.name if task == CLOSING_TASK else state.forced
    if task == SYNTHESIS_TASK:
        tool = contract.ending(task, directives=bound)
    elif task == DOCUMENT_TASK:
        tool = contract.ending(task, document=True, directives=bound)
    elif task == STRUCTURE_TASK:
        tool = structured_tool(task, asking.job.request.response_schema or {})
    else:
        (tool,) = TASKS[task].tools
    return (tool,), tool.name


def _about(system: str, tools: Sequence[Tool]) -> str:
    """The system text without its items on tools that this call does not have: a model uses what it reads of."""
    known = (*_TOOLS, calls.DONE, calls.ANSWER_READY)
    absent = tuple(f"- `{name}`" for name in known if name not in {tool.name for tool in tools})
    return "\n".join(line for line in system.split("\n") if not line.startswith(absent)) if absent else system


def _shown_with(asking: Asking, state: RunState, task: str, material: Material) -> list[str]:
    """What a call is shown besides the question and what is settled."""
    blocks = [data_block(block.kind, block.document) for block in asking.blocks.get(task, ())]
    if task in _OF_ANSWER and CLOSING_TASK in state.said:
        answer: JsonObject = {"text": state.said[CLOSING_TASK]["answer"]}
        if task == REWRITE_TASK:
            answer["max_tokens"] = state.limits.max_tokens
        blocks.append(data_block("answer", answer))
        broken = broken_block(state.said.get(VERIFY_TASK), asking.rules) if task == REWRITE_TASK else []
        if broken:
            blocks.append(data_block("violations", broken))
    elif material.claims is not None:
        blocks.append(data_block("claims", [*material.claims]))
    elif task not in _UNEVIDENCED:
        evidence: list[JsonValue] = [*as_block(material.evidence)]
        blocks.append(data_block("evidence", evidence))
    return blocks


def _settled(asking: Asking) -> list[str]:
    """The bank's own blocks, then what changes with every question: the later it stands, the more a cache serves."""
    request, config = asking.job.request, asking.config
    blocks = [data_block("bank", {"name": asking.name or asking.job.bank})]
    if config.reflect_mission and config.reflect_mission.strip():
        blocks.append(data_block("mission", {"text": config.reflect_mission}))
    blocks.append(data_block("disposition", described(config)))
    blocks.append(data_block("effort", {"budget": request.budget.value}))
    blocks.append(data_block("length", {"tokens": request.max_tokens}))
    blocks.append(data_block("now", {"utc": asking.now.strftime("%A, %Y-%m-%d %H:%M")}))
    if request.context and request.context.strip():
        blocks.append(data_block("context", {"text": request.context}))
    return blocks


def _rules(asking: Asking) -> list[str]:
    return [data_block("directives", rules_block(asking.rules))] if asking.rules else []


def _question(asking: Asking) -> str:
    return data_block("question", {"text": asking.job.request.query})


def _language(asking: Asking) -> list[str]:
    language = asking.settings.hindsight_api_llm_output_language
    return [data_block("language", {"language": language.strip()})] if language and language.strip() else []
