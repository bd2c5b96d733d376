"""Tells the planner what happened since its last decision, from the run's rows.  Called by the step `plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Run, Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.asking.checks import CHECKS, EndingBasis
from hindsight_aws.reflect.asking.model_call import Asking, shown
from hindsight_aws.reflect.conversation.calls import DONE, SEARCH_MENTAL_MODELS, normalised
from hindsight_aws.reflect.conversation.claims import sizes
from hindsight_aws.reflect.conversation.transcript import MODEL_STEP, TOOL_STEP, Transcript, claims_step, tell
from hindsight_aws.reflect.loop.codec import action_from_json
from hindsight_aws.reflect.loop.state import (
    Began,
    Broke,
    Claimed,
    Event,
    ExtractClaims,
    Phase,
    RanOut,
    Replied,
    RunState,
    Searched,
    Use,
)
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.begin import asking_of, kept_of
from hindsight_aws.telemetry import measure

ANSWER_RESERVE_S = 45.0
EXTRA_RESERVE_S = 90.0
"""With less left than this nothing is begun that only follows an answer: the answer is written instead."""
_LEAST_RELEVANCE = 0.5


def event_of(ports: ReflectPorts, tx: Transaction, run: Run, state: RunState, error: str | None) -> Event:
    """What happened; `error` names how the step before failed, if it did."""
    is_late = run.seconds_left < ANSWER_RESERVE_S
    if state.phase is Phase.NEW:
        return RanOut() if is_late else Began()
    steps = tx.reflect.steps(run.bank_id, run.run_id)
    if state.phase is Phase.SEARCHING:
        return _searched(run, steps, is_late=is_late)
    if state.phase is Phase.CLAIMING:
        if _are_claimed(run, steps):
            return Claimed()
        return RanOut() if is_late else Broke(error or "ModelUnavailable")
    reply = next((step for step in steps if step.turn == run.turn and step.name == MODEL_STEP), None)
    if reply is None:
        return RanOut() if is_late else Broke(error or "ModelUnavailable")
    uses = uses_of(reply)
    if is_late and state.phase is Phase.ASKING and not any(normalised(use.name) == DONE for use in uses):
        return RanOut()
    stop = (reply.output or {}).get("stop")
    refusal = _refusal(ports, tx, run, state, tell(steps), uses) if state.phase is not Phase.ASKING else None
    if refusal is not None:
        measure(Metric.REFUSED_REPLIES, task=state.task)
    return Replied(uses, refusal, stop if isinstance(stop, str) else "")


def is_cut_short(run: Run, after: RunState) -> bool:
    """Whether what comes next only follows an answer, and there is no time left for it."""
    return after.phase is Phase.FINISHING and run.seconds_left < EXTRA_RESERVE_S


def uses_of(step: Step) -> tuple[Use, ...]:
    """The tools that a model used in one reply."""
    uses = (step.output or {}).get("uses")
    return tuple(
        Use(str(use["id"]), str(use["name"]), said)
        for use in (uses if isinstance(uses, list) else [])
        if isinstance(use, dict) and isinstance(said := use.get("input"), dict)
    )


def pages_suffice(result: JsonObject) -> bool:
    """Whether a search of pages found some, each known to be fresh and not blank, the first one to the point."""
    found = result.get("mental_models")
    pages = [page for page in found if isinstance(page, dict)] if isinstance(found, list) else []
    if not pages or any(page.get("is_stale") is not False or not _has_text(page) for page in pages):
        return False
    relevance = pages[0].get("relevance")
    return isinstance(relevance, int | float) and relevance >= _LEAST_RELEVANCE


def _has_text(page: Mapping[str, JsonValue]) -> bool:
    return any(isinstance(text := page.get(name), str) and text.strip() for name in ("content", "snippet"))


def _searched(run: Run, steps: Sequence[Step], *, is_late: bool) -> Searched:
    told = tell(steps)
    results = [
        result
        for step in steps
        if step.turn == run.turn and step.name.startswith(TOOL_STEP) and step.input.get("name") == SEARCH_MENTAL_MODELS
        if isinstance(result := (step.output or {}).get("result"), dict)
    ]
    found = any(pages_suffice(result) for result in results)
    return Searched(len(told.evidence), told.tokens, sizes(told.evidence), found, is_late)


def _are_claimed(run: Run, steps: Sequence[Step]) -> bool:
    action = action_from_json(run.action or {})
    names = {step.name for step in steps}
    return isinstance(action, ExtractClaims) and all(claims_step(chunk) in names for chunk in action.chunks)


def _refusal(
    ports: ReflectPorts, tx: Transaction, run: Run, state: RunState, told: Transcript, uses: Sequence[Use]
) -> str | None:
    """What the check of the task that was asked has against the reply."""
    if not uses:
        return None
    if state.phase is Phase.CLOSING and not state.limits.answers:
        return ports.pages.check(kept_of(run), state.task, uses[0].input, state.said)
    check = CHECKS.get(state.task)
    if check is None:
        return None
    asking: Asking = asking_of(ports, tx, run)
    return check(uses[0].input, EndingBasis(asking, state.said, shown(state, told)))
