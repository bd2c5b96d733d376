"""The step `plan`: the run's next decision is taken and kept.

Called by jobs/reflect.py; what is decided is loop/planner.py's.  A step may be repeated or killed at any point: a
decision is taken once (compare-and-set on the turn).
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import Step
from hindsight_aws.reflect.conversation.transcript import TOOL_STEP, claims_step
from hindsight_aws.reflect.loop import planner
from hindsight_aws.reflect.loop.codec import action_from_json, action_to_json, state_from_json, state_to_json
from hindsight_aws.reflect.loop.state import Action, ExtractClaims, RanOut, RunTools
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.begin import PLAN
from hindsight_aws.reflect.steps.happened import event_of, is_cut_short
from hindsight_aws.reflect.steps.payload import payload
from hindsight_aws.reflect.steps.rows import RunRef, is_at, plan_of, run_of


def plan(ports: ReflectPorts, ref: RunRef, error: str | None) -> JsonObject:
    """Takes the run's next decision and returns the workflow's payload; `error` names how the step before failed.

    Guarantees: repeated for the same turn, it returns the decision that was taken.

    Raises: WorkSuperseded when the run is further than this turn's successor.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if is_at(run, ref):
            state = state_from_json(plan_of(run))
            after, action = planner.plan(state, event_of(ports, tx, run, state, error))
            if is_cut_short(run, after):
                after, action = planner.plan(after, RanOut())
            document: JsonObject = {**run.state, PLAN: state_to_json(after)}
            if tx.reflect.advance(ref.bank_id, ref.run_id, ref.turn, document, action_to_json(action)):
                if isinstance(action, RunTools):
                    tx.reflect.record(ref.bank_id, ref.run_id, _refusals(ref.turn + 1, action))
                return _told(ref, ref.turn + 1, action)
            run = run_of(tx, ref)
        if run.status == "running" and run.turn == ref.turn + 1 and run.action is not None:
            return _told(ref, run.turn, action_from_json(run.action))
        if run.status != "running":
            return payload(ref, run.turn, "finish" if run.status == "completed" else "fail")
    raise WorkSuperseded(f"the run is at turn {run.turn}, this step at {ref.turn}")


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


def _told(ref: RunRef, turn: int, action: Action) -> JsonObject:
    name = action_to_json(action)["action"]
    if isinstance(action, RunTools):
        names = [f"{TOOL_STEP}{index}" for index, call in enumerate(action.calls) if call.refusal is None]
    else:
        names = [claims_step(chunk) for chunk in action.chunks] if isinstance(action, ExtractClaims) else []
    return payload(ref, turn, str(name), names)
