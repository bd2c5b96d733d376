"""The step that runs one tool: what was decided is searched, once, and its answer kept.

Called by jobs/reflect.py, once for each tool of a round, in parallel; calls the tools.
"""

from __future__ import annotations

import time

from hindsight_aws.errors import ModelDenied
from hindsight_aws.faults import reached
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import Run, Step
from hindsight_aws.reflect.conversation.calls import SEARCH_MENTAL_MODELS, ceiling
from hindsight_aws.reflect.conversation.transcript import TOOL_STEP, tell
from hindsight_aws.reflect.loop.codec import action_from_json, state_from_json
from hindsight_aws.reflect.loop.state import RunTools
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.begin import asking_of
from hindsight_aws.reflect.steps.happened import pages_suffice
from hindsight_aws.reflect.steps.question import question_of
from hindsight_aws.reflect.steps.rows import RunRef, is_at, plan_of, run_of, since
from hindsight_aws.reflect.tools import toolbox

GUIDANCE = "These pages are up to date and to the point. Observations and facts may still be searched, and need not be."
"""What stands with pages that release the order of the first look, when the model is asked for each layer in turn."""


def run_tool(ports: ReflectPorts, ref: RunRef, name: str) -> None:
    """Runs one tool that was decided and keeps its answer; with an answer kept already it does nothing.

    Raises: whatever the search raises: a tool that fails fails the run, it is never told as an answer.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if not is_at(run, ref) or tx.reflect.step(ref.bank_id, ref.run_id, ref.turn, name) is not None:
            return
        told = tell([step for step in tx.reflect.steps(ref.bank_id, ref.run_id) if step.turn < ref.turn])
        asking = asking_of(ports, tx, run)
    action = action_from_json(run.action or {})
    index = int(name.removeprefix(TOOL_STEP))
    if not isinstance(action, RunTools) or not 0 <= index < len(action.calls):
        raise ModelDenied(f"this run has no tool call {name!r}")
    call = action.calls[index]
    began = time.monotonic()
    room = ceiling(asking.settings.hindsight_api_reflect_max_context_tokens - told.tokens, _at_once(action))
    context = toolbox.ToolContext(ports, asking.job, ref.bank_id, asking.config, room, question_of(run.state))
    result = toolbox.run(context, call.name, call.said, told.ids())
    if call.name == SEARCH_MENTAL_MODELS and _frees(run, result):
        result = {**result, "guidance": GUIDANCE}
    asked: JsonObject = {"use_id": call.use_id, "name": call.name, "said": call.said}
    reached("reflect.after_tool")
    with ports.store.transaction(ref.tenant_id) as tx:
        step = Step(ref.turn, name, asked, {"result": result}, since(began))
        tx.reflect.record(ref.bank_id, ref.run_id, [step])


def _frees(run: Run, result: JsonObject) -> bool:
    """Whether these pages end the order in which the layers would still have to be asked."""
    state = state_from_json(plan_of(run))
    limits = state.limits
    return limits.looks_one_by_one and not limits.thorough and bool(state.pending) and pages_suffice(result)


def _at_once(action: RunTools) -> int:
    return sum(1 for call in action.calls if call.refusal is None)
