"""The steps of a reflect run, as the workflow calls them: each reads the run's rows, does one thing, and writes it.

Called by jobs/reflect.py.  Every step may be repeated or killed at any point: a decision is taken once (compare-and-set
on the turn), a reply that was stored is never paid for again, and a run ends once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_aws.banks.config import resolve
from hindsight_aws.errors import HindsightError, ModelDenied, NotFound, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import BankId, RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelReply, ModelUsage
from hindsight_aws.ports.reflect import Run, Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect import tools
from hindsight_aws.reflect.answer import answer_document, conclude, resting_on
from hindsight_aws.reflect.asking import Asking, model_call, shown
from hindsight_aws.reflect.codec import action_from_json, action_to_json, state_from_json, state_to_json
from hindsight_aws.reflect.planner import plan
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.request import Budget, ReflectJob, job_from_json
from hindsight_aws.reflect.state import (
    AskModel,
    Began,
    Broke,
    Event,
    Finish,
    GiveUp,
    Limits,
    Phase,
    RanOut,
    Replied,
    RunState,
    RunTools,
    Searched,
    Use,
)
from hindsight_aws.reflect.transcript import MODEL_STEP, TOOL_STEP, tell
from hindsight_aws.usage.ledger import ledger_entries

_log = logging.getLogger(__name__)

_SHARES = {Budget.LOW: 0.5, Budget.MID: 1.0, Budget.HIGH: 2.0}
_ANSWER_RESERVE_S = 45.0


@dataclass(frozen=True, slots=True)
class RunRef:
    """Which run, and the turn its workflow is at."""

    tenant_id: TenantId
    bank_id: BankId
    run_id: RunId
    turn: int


def prepare(ports: ReflectPorts, ref: RunRef) -> JsonObject:
    """Settles what the run may do, once; returns the workflow's payload.  Raises NotFound when there is no such run."""
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _run(tx, ref)
        if not run.state:
            tx.reflect.begin(ref.bank_id, ref.run_id, {"plan": state_to_json(RunState(_limits(ports, tx, run)))})
    return _payload(ref, run.turn, {"action": "plan"})


def decide(ports: ReflectPorts, ref: RunRef, error: str | None) -> JsonObject:
    """Takes the run's next decision and returns the workflow's payload; `error` names how the step before failed.

    Guarantees: repeated for the same turn, it returns the decision that was taken.

    Raises: WorkSuperseded when the run is further than this turn's successor.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _run(tx, ref)
        if run.turn == ref.turn and run.status == "running":
            state = state_from_json(_plan_of(run))
            after, action = plan(state, _event(tx, ref, run, state, error))
            document = action_to_json(action)
            document_of_state: JsonObject = {**run.state, "plan": state_to_json(after)}
            if tx.reflect.advance(ref.bank_id, ref.run_id, ref.turn, document_of_state, document):
                if isinstance(action, RunTools):
                    tx.reflect.record(ref.bank_id, ref.run_id, _refusals(ref.turn + 1, action))
                return _payload(ref, ref.turn + 1, document)
            run = _run(tx, ref)
        if run.status == "running" and run.turn == ref.turn + 1 and run.action is not None:
            return _payload(ref, run.turn, run.action)
        if run.status != "running":
            return _payload(ref, run.turn, {"action": "finish" if run.status == "completed" else "fail"})
    raise WorkSuperseded(f"the run is at turn {run.turn}, this step at {ref.turn}")


def call_model(ports: ReflectPorts, ref: RunRef) -> None:
    """Makes the model call that was decided and keeps its reply; with a reply kept already it does nothing.

    Raises: ModelThrottled, ModelUnavailable, ModelError: the workflow retries or hands them to `decide` by name.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _run(tx, ref)
        if run.status != "running" or run.turn != ref.turn:
            return
        steps = tx.reflect.steps(ref.bank_id, ref.run_id)
        if any(step.turn == ref.turn and step.name == MODEL_STEP for step in steps):
            return
        asking = _asking(ports, tx, run)
    action = action_from_json(run.action or {})
    if not isinstance(action, AskModel) or ports.text_model is None:
        raise ModelDenied("this run has no model call to make")
    call = model_call(asking, state_from_json(_plan_of(run)), action.task, tell(steps))
    usages: list[ModelUsage] = []
    reached("reflect.before_model")
    began = time.monotonic()
    try:
        reply = ports.text_model.ask(call, usages.append)
    except HindsightError as failure:
        _account_for_failure(ports, ref, run, usages, failure)
        raise
    reached("reflect.after_model")
    with ports.store.transaction(ref.tenant_id) as tx:
        tx.usage.record(ledger_entries(usages, run.subject, ref.bank_id, run_id=ref.run_id))
        tx.reflect.record(ref.bank_id, ref.run_id, [_reply_step(ref.turn, action.task, reply, began)])


def _account_for_failure(
    ports: ReflectPorts, ref: RunRef, run: Run, usages: Sequence[ModelUsage], failure: HindsightError
) -> None:
    """Puts a failed call into the ledger; what hinders that is logged, for the workflow must see the model's error."""
    try:
        with ports.store.transaction(ref.tenant_id) as tx:
            tx.usage.record(ledger_entries(usages, run.subject, ref.bank_id, run_id=ref.run_id))
    except HindsightError as lost:
        _log.warning(
            "run %s: a call that failed (%s) is not in the ledger: %s", ref.run_id, type(failure).__name__, lost
        )


def run_tool(ports: ReflectPorts, ref: RunRef, name: str) -> None:
    """Runs one tool that was decided and keeps its answer; with an answer kept already it does nothing.

    Raises: whatever the search raises: a tool that fails fails the run, it is never told as an answer.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _run(tx, ref)
        if run.status != "running" or run.turn != ref.turn:
            return
        if tx.reflect.step(ref.bank_id, ref.run_id, ref.turn, name) is not None:
            return
        aliases = tell(tx.reflect.steps(ref.bank_id, ref.run_id)).ids()
        asking = _asking(ports, tx, run)
    action = action_from_json(run.action or {})
    index = int(name.removeprefix(TOOL_STEP))
    if not isinstance(action, RunTools) or not 0 <= index < len(action.calls):
        raise ModelDenied(f"this run has no tool call {name!r}")
    call = action.calls[index]
    began = time.monotonic()
    context = tools.ToolContext(ports, asking.job, ref.bank_id, asking.config)
    result = tools.run(context, call.name, call.said, aliases)
    asked: JsonObject = {"use_id": call.use_id, "name": call.name, "said": call.said}
    reached("reflect.after_tool")
    with ports.store.transaction(ref.tenant_id) as tx:
        step = Step(ref.turn, name, asked, {"result": result}, _since(began))
        tx.reflect.record(ref.bank_id, ref.run_id, [step])


def finish(ports: ReflectPorts, ref: RunRef) -> None:
    """Writes the run's answer, once: citations checked, sources read again.  The steps' texts are then removed."""
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _run(tx, ref)
        if run.status != "running":
            return
        action = action_from_json(run.action or {})
        if not isinstance(action, Finish):
            raise ModelDenied("this run has no answer to write")
        job = job_from_json(run.request)
        steps = tx.reflect.steps(ref.bank_id, ref.run_id)
        evidence = shown(state_from_json(_plan_of(run)), tell(steps))
        conclusion = conclude(action.said, evidence, job.request.query)
        rows = tx.reflect.cited(ref.bank_id, [piece.id for piece in resting_on(conclusion, evidence)])
        body = answer_document(job, conclusion, evidence, {row.id: row for row in rows}, steps)
        tx.reflect.complete(ref.bank_id, ref.run_id, body)
        tx.reflect.forget_steps(ref.bank_id, ref.run_id)
        reached("reflect.before_finish")


def fail(ports: ReflectPorts, ref: RunRef, error: str | None, cause: str | None) -> None:
    """Ends the run without an answer; one that has ended stays as it is."""
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _run(tx, ref)
        action = None if run.action is None else action_from_json(run.action)
        if error is None and isinstance(action, GiveUp):
            error, cause = action.error, action.message
        tx.reflect.fail(ref.bank_id, ref.run_id, error or "ReflectFailed", cause or "the run gave no answer")


def _run(tx: Transaction, ref: RunRef) -> Run:
    run = tx.reflect.find(ref.bank_id, ref.run_id)
    if run is None:
        raise NotFound("there is no such run")
    return run


def _limits(ports: ReflectPorts, tx: Transaction, run: Run) -> Limits:
    asking = _asking(ports, tx, run)
    job = asking.job
    enabled = tools.enabled(job, asking.config)
    settings = ports.settings
    types = tools.searched_types(job)
    return Limits(
        question=job.request.query,
        first=tuple(name for name in enabled if name in tools.LAYERS),
        tools=enabled,
        turns=max(1, int(settings.hindsight_api_reflect_max_iterations * _SHARES[job.request.budget])),
        context_tokens=settings.hindsight_api_reflect_max_context_tokens,
        holds_memories=bool(enabled) and tx.reflect.holds_memories(run.bank_id, types),
    )


def _asking(ports: ReflectPorts, tx: Transaction, run: Run) -> Asking:
    job: ReflectJob = job_from_json(run.request)
    bank = tx.banks.by_id(run.bank_id)
    config = resolve(ports.settings, {} if bank is None else bank.overrides)
    return Asking(job, config, ports.settings, run.created_at)


def _event(tx: Transaction, ref: RunRef, run: Run, state: RunState, error: str | None) -> Event:
    is_late = run.seconds_left < _ANSWER_RESERVE_S
    if state.phase is Phase.NEW:
        return RanOut() if is_late else Began()
    if state.phase is Phase.SEARCHING:
        transcript = tell(tx.reflect.steps(ref.bank_id, ref.run_id))
        return RanOut() if is_late else Searched(len(transcript.evidence), transcript.tokens)
    reply = tx.reflect.step(ref.bank_id, ref.run_id, ref.turn, MODEL_STEP)
    if is_late and (reply is None or state.phase is Phase.ASKING):
        return RanOut()
    return Broke(error or "ModelUnavailable") if reply is None else Replied(_uses(reply))


def _uses(step: Step) -> tuple[Use, ...]:
    uses = (step.output or {}).get("uses")
    return tuple(
        Use(str(use["id"]), str(use["name"]), said)
        for use in (uses if isinstance(uses, list) else [])
        if isinstance(use, dict) and isinstance(said := use.get("input"), dict)
    )


def _reply_step(turn: int, task: str, reply: ModelReply, began: float) -> Step:
    uses: list[JsonValue] = [{"id": use.id, "name": use.name, "input": use.input} for use in reply.tool_uses]
    usage = reply.usage
    tokens: JsonObject = {"input": usage.total_input, "output": usage.output, "cached": usage.cache_read}
    output: JsonObject = {"uses": uses, "text": reply.text, "stop": reply.stop, "model": reply.model, "tokens": tokens}
    return Step(turn, MODEL_STEP, {"task": task}, output, _since(began))


def _refusals(turn: int, action: RunTools) -> Sequence[Step]:
    return [
        Step(
            turn,
            f"{TOOL_STEP}{index}",
            {"use_id": call.use_id, "name": call.name, "said": call.said},
            {"refusal": call.refusal},
            0,
        )
        for index, call in enumerate(action.calls)
        if call.refusal is not None
    ]


def _payload(ref: RunRef, turn: int, action: JsonObject) -> JsonObject:
    """What travels between the states: ids, the turn, the action's name, and which tools to run."""
    calls: list[JsonValue] = []
    if action["action"] == "run_tools" and isinstance(planned := action["calls"], list):
        calls += [
            {"step": f"{TOOL_STEP}{index}"}
            for index, call in enumerate(planned)
            if isinstance(call, dict) and call.get("refusal") is None
        ]
    return {
        "tenant_id": str(ref.tenant_id),
        "bank_id": str(ref.bank_id),
        "run_id": str(ref.run_id),
        "turn": turn,
        "action": action["action"],
        "calls": calls,
    }


def _plan_of(run: Run) -> JsonObject:
    document = run.state.get("plan")
    return document if isinstance(document, dict) else {}


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
