"""The step that makes a model call: what was decided is asked, once, and its reply kept.

Called by jobs/reflect.py, once for a call, once for each part whose claims are drawn.  No call is made inside a
transaction, and none is repeated here: the workflow does that, by the error's name.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from hindsight_aws.errors import DatabaseUnavailable, HindsightError, ModelDenied, WorkCrashed
from hindsight_aws.faults import reached
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, ModelReply, ModelUsage, TokenUsage
from hindsight_aws.ports.reflect import Run, Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.asking.model_call import Asking, Material, model_call, shown
from hindsight_aws.reflect.conversation import claims
from hindsight_aws.reflect.conversation.blanking import compacted
from hindsight_aws.reflect.conversation.calls import sound
from hindsight_aws.reflect.conversation.transcript import MODEL_STEP, Transcript, claims_step, tell
from hindsight_aws.reflect.loop.codec import action_from_json, state_from_json
from hindsight_aws.reflect.loop.state import CLAIMS_TASK, AskModel, ExtractClaims, RunState
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.begin import asking_of, ending_blocks
from hindsight_aws.reflect.steps.happened import uses_of
from hindsight_aws.reflect.steps.rows import RunRef, is_at, plan_of, run_of, since
from hindsight_aws.usage.allowance import Allowance
from hindsight_aws.usage.ledger import ledger_entries

_log = logging.getLogger(__name__)

MOST_LOST_CALLS = 4
"""Calls of one run that may die with their process: as often as the workflow tries one step."""
_PAUSE_S = 0.25


def call_model(ports: ReflectPorts, ref: RunRef, name: str = MODEL_STEP) -> None:
    """Makes the model call that was decided and keeps its reply; with a reply kept already it does nothing.

    A run that was cancelled or has ended is asked nothing more.  Delivered twice at once, one of the two makes the call
    and the other waits for it.  A call is noted before it is made: one whose process died is counted, and they are few.

    Raises: WorkCrashed when too many calls of the run were lost; LimitReached when the tenant may not spend what the
    call may cost; ModelThrottled, ModelUnavailable, ModelError: the workflow retries or hands them to `plan` by name.
    """
    give_up_at = time.monotonic() + ports.settings.hindsight_api_llm_timeout
    allowance = Allowance(ref.tenant_id, ports.clock)
    is_connected = True
    try:
        while (found := _look(ports, ref, name, allowance, waits=time.monotonic() < give_up_at)) is None:
            time.sleep(_PAUSE_S)
        run, call = found
        if call is not None:
            _ask(ports, ref, run, name, call, allowance)
    except DatabaseUnavailable:
        is_connected = False  # what the connection held has ended with it
        raise
    finally:
        if is_connected:
            _give_back(ports, ref, name)


def _look(
    ports: ReflectPorts, ref: RunRef, name: str, allowance: Allowance, *, waits: bool
) -> tuple[Run, ModelCall | None] | None:
    """The run and the call to make, None when there is none to make (any more); None while another process is at it.

    The step is this process's from then on.  Claimed before the steps are read: what was kept before it is then seen.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        if not tx.reflect.claim_step(ref.bank_id, ref.run_id, ref.turn, name):
            if waits:
                return None
            _log.warning("run %s: another process has held %s of turn %d too long", ref.run_id, name, ref.turn)
        run = run_of(tx, ref)
        steps = tx.reflect.steps(ref.bank_id, ref.run_id)
        is_kept = any(step.name == name and (step.turn == ref.turn or name != MODEL_STEP) for step in steps)
        if not is_at(run, ref) or is_kept:
            return run, None
        asking = ending_blocks(ports, run, asking_of(ports, tx, run))
        call = _call(asking, run, steps, name)
        lost = _note(tx, ref, run, name, call)
        refusal = allowance.ask(tx, lambda: {name: call}).refusal if lost < MOST_LOST_CALLS else None
        if refusal is not None:
            tx.reflect.end_call(ref.bank_id, ref.run_id, _key(ref, name))
    if refusal is not None:
        raise refusal
    if lost >= MOST_LOST_CALLS:
        raise WorkCrashed(f"{lost} model calls of this run were lost with the process that made them")
    return run, call


def _note(tx: Transaction, ref: RunRef, run: Run, name: str, call: ModelCall) -> int:
    """Notes that the call begins; the number of the run's calls that were lost, this one's last try among them.

    That nobody has the step and its call is open says that the process died in it.
    """
    is_lost = _key(ref, name) in run.open_calls
    if is_lost:
        lost = ModelUsage(call.task, call.prompt, call.model, "abandoned", TokenUsage(), None, 0.0)
        tx.usage.record(ledger_entries([lost], run.subject, ref.bank_id, run_id=ref.run_id))
    tx.reflect.begin_call(ref.bank_id, ref.run_id, _key(ref, name))
    return run.lost_calls + is_lost


def _key(ref: RunRef, name: str) -> str:
    return f"{ref.turn}/{name}"


def _give_back(ports: ReflectPorts, ref: RunRef, name: str) -> None:
    """After the commit that keeps the reply: whoever waits must find it.  What hinders that is logged."""
    try:
        with ports.store.transaction(ref.tenant_id) as tx:
            tx.reflect.release_step(ref.bank_id, ref.run_id, ref.turn, name)
    except HindsightError as lost:
        _log.warning("run %s: %s was not given back, which its connection's end does: %s", ref.run_id, name, lost)


def _ask(ports: ReflectPorts, ref: RunRef, run: Run, name: str, call: ModelCall, allowance: Allowance) -> None:
    if ports.text_model is None:
        raise ModelDenied("there is no model to ask")
    usages: list[ModelUsage] = []
    reached("reflect.before_model")
    began = time.monotonic()
    try:
        reply = ports.text_model.ask(call, usages.append)
    except HindsightError as failure:
        _account_for_failure(ports, ref, run, name, usages, failure=failure, allowance=allowance)
        raise
    reached("reflect.after_model")
    with ports.store.transaction(ref.tenant_id) as tx:
        tx.usage.record(ledger_entries(usages, run.subject, ref.bank_id, run_id=ref.run_id))
        tx.reflect.end_call(ref.bank_id, ref.run_id, _key(ref, name))
        tx.reflect.record(ref.bank_id, ref.run_id, [_reply_step(ref.turn, name, call.task, reply, began)])
        allowance.settle(tx)


def _call(asking: Asking, run: Run, steps: Sequence[Step], name: str) -> ModelCall:
    """The call that the run's last decision asks for under this name.  Raises: ModelDenied when it asks for none."""
    action, state, told = action_from_json(run.action or {}), state_from_json(plan_of(run)), tell(steps)
    if isinstance(action, AskModel) and name == MODEL_STEP:
        if state.is_compacted:
            told = replace(told, turns=compacted(told.turns, state.limits.context_tokens))
        return model_call(asking, state, action.task, told, _material(state, told, steps))
    if isinstance(action, ExtractClaims):
        chunk = next((chunk for chunk in action.chunks if claims_step(chunk) == name), None)
        if chunk is not None:
            part = claims.part(told.evidence, chunk, action.most)
            return model_call(asking, state, CLAIMS_TASK, told, Material(evidence=part))
    raise ModelDenied("this run has no such model call to make")


def _material(state: RunState, told: Transcript, steps: Sequence[Step]) -> Material:
    """What a call without the conversation is made from: the claims once drawn, if any, else the evidence that fits."""
    names, known = [claims_step(chunk) for chunk in state.chunks], [piece.alias for piece in told.evidence]
    replies = {step.name: uses for step in steps if step.name in names and (uses := uses_of(step))}
    drawn = [one for name in names if name in replies for one in claims.read_claims(replies[name][0].input, known)]
    if not drawn:
        return Material(evidence=shown(replace(state, chunks=()), told))
    return Material(claims=claims.fitted(drawn, state.evidence_tokens))


def _account_for_failure(
    ports: ReflectPorts,
    ref: RunRef,
    run: Run,
    name: str,
    usages: Sequence[ModelUsage],
    *,
    failure: HindsightError,
    allowance: Allowance,
) -> None:
    """Puts a failed call into the ledger; what hinders that is logged, for the workflow must see the model's error."""
    try:
        with ports.store.transaction(ref.tenant_id) as tx:
            tx.usage.record(ledger_entries(usages, run.subject, ref.bank_id, run_id=ref.run_id))
            tx.reflect.end_call(ref.bank_id, ref.run_id, _key(ref, name))
            allowance.settle(tx)
    except HindsightError as lost:
        _log.warning(
            "run %s: a call that failed (%s) is not in the ledger: %s", ref.run_id, type(failure).__name__, lost
        )


def _reply_step(turn: int, name: str, task: str, reply: ModelReply, began: float) -> Step:
    uses: list[JsonValue] = [{"id": use.id, "name": use.name, "input": use.input} for use in reply.tool_uses]
    usage = reply.usage
    tokens: JsonObject = {"input": usage.total_input, "output": usage.output, "cached": usage.cache_read}
    output: JsonObject = {"uses": uses, "text": reply.text, "stop": reply.stop, "model": reply.model, "tokens": tokens}
    kept = sound(output)
    return Step(turn, name, {"task": task}, kept if isinstance(kept, dict) else {}, since(began))
