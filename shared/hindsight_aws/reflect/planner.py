"""Decides what a reflect run does next: one pure function from state and event to state and action.

Called by the step `plan`; reads and writes nothing.  Whatever reflect learns to do later is another action here.
"""

from __future__ import annotations

from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.calls import ANSWER_READY, DONE, check_call, conclusion, normalised
from hindsight_aws.reflect.state import (
    CLOSING_TASK,
    SYNTHESIS_TASK,
    TURN_TASK,
    Action,
    AskModel,
    Began,
    Broke,
    Event,
    Finish,
    GiveUp,
    Phase,
    RanOut,
    Replied,
    RunState,
    RunTools,
    Searched,
    ToolCall,
    Use,
)

LEAST_EVIDENCE_TOKENS = 1_024
_MOST_PASSING_FAILURES = 2
_MOST_CALLS_AT_ONCE = 8
_EVIDENCE_SHARE = 0.8

_ENDINGS = (DONE, SYNTHESIS_TASK)
_TASKS = {Phase.ASKING: TURN_TASK, Phase.CLOSING: CLOSING_TASK, Phase.SYNTHESISING: SYNTHESIS_TASK}


def plan(state: RunState, event: Event) -> tuple[RunState, Action]:
    """The next state and what to do now.

    Guarantees: ends after a bounded number of decisions whatever the events; never asks the same thing twice after a
    reply that was wrong; never lets an answer stand for which nothing was found.

    Raises: ValueError for an event that cannot follow the state.
    """
    match state.phase, event:
        case Phase.NEW, Began():
            return _begin(state)
        case Phase.SEARCHING, Searched():
            return _read(state, event)
        case ((Phase.ASKING | Phase.CLOSING | Phase.SYNTHESISING), Replied()):
            return _weigh(replace(state, failures=0), event)
        case ((Phase.ASKING | Phase.CLOSING | Phase.SYNTHESISING), Broke()):
            return _recover(state, event.error)
        case ((Phase.SEARCHING | Phase.ASKING), RanOut()):
            return _ask(state, Phase.CLOSING)
        case ((Phase.NEW | Phase.CLOSING | Phase.SYNTHESISING), RanOut()):
            return _give_up(state, "ReflectTimeout", "the run did not end within its time")
    raise ValueError(f"{type(event).__name__} cannot follow phase {state.phase}")


def _begin(state: RunState) -> tuple[RunState, Action]:
    """The first round needs no model: every layer is asked the question itself, at once."""
    if not state.limits.holds_memories:
        return _finish(state, None)
    said: JsonObject = {"reason": "First look.", "query": state.limits.question}
    calls = tuple(
        ToolCall(f"first-{index}", name, said, check_call(name, said, state.limits.tools))
        for index, name in enumerate(state.limits.first)
    )
    return replace(state, phase=Phase.SEARCHING), RunTools(calls)


def _read(state: RunState, event: Searched) -> tuple[RunState, Action]:
    state = replace(state, found=event.found)
    if event.tokens >= state.limits.context_tokens:
        return _synthesise(state)
    if state.asked + 1 >= state.limits.turns:
        return _ask(state, Phase.CLOSING)
    return _ask(state, Phase.ASKING)


def _weigh(state: RunState, reply: Replied) -> tuple[RunState, Action]:
    uses = [replace(use, name=normalised(use.name)) for use in reply.uses]
    done = next((use for use in uses if use.name in _ENDINGS), None)
    said = None if done is None else conclusion(done.input)
    if state.phase is not Phase.ASKING:
        return _conclude(state, said)
    calls = _calls(state, [use for use in uses if use.name not in (*_ENDINGS, ANSWER_READY)])
    if any(call.refusal is None for call in calls) or (calls and said is None):
        return replace(state, phase=Phase.SEARCHING), RunTools(calls)
    return _ask(state, Phase.CLOSING) if said is None else _conclude(state, said)


def _calls(state: RunState, uses: list[Use]) -> tuple[ToolCall, ...]:
    """The uses as tool calls with ids of their own: models repeat ids, or leave them blank."""
    calls = []
    for index, use in enumerate(uses):
        refusal = check_call(use.name, use.input, state.limits.tools)
        if index >= _MOST_CALLS_AT_ONCE:
            refusal = f"At most {_MOST_CALLS_AT_ONCE} tools at once; ask again for this one."
        calls.append(ToolCall(f"use-{state.asked}-{index}", use.name, use.input, refusal))
    return tuple(calls)


def _conclude(state: RunState, said: JsonObject | None) -> tuple[RunState, Action]:
    if said is not None:
        found_nothing = state.found == 0 and said["answer_found"] is True
        return _finish(state, None if found_nothing else said)
    if state.phase is Phase.CLOSING:
        return _synthesise(state)
    return _give_up(state, "ModelReplyMalformed", "the model gave no answer when it was asked for one")


def _recover(state: RunState, error: str) -> tuple[RunState, Action]:
    if error == "ModelInputTooLong":
        return _with_less(state)
    if error in ("ModelReplyMalformed", "ModelReplyTruncated"):
        if state.phase is Phase.ASKING:
            return _ask(state, Phase.CLOSING)
        if state.phase is Phase.CLOSING:
            return _synthesise(state)
        return _give_up(state, error, "the model gave no usable answer when it was asked for one")
    failures = state.failures + 1
    if error not in ("ModelThrottled", "ModelUnavailable") or failures >= _MOST_PASSING_FAILURES:
        return _give_up(state, error, "the model could not be asked")
    return _ask(replace(state, failures=failures), state.phase)


def _with_less(state: RunState) -> tuple[RunState, Action]:
    """After an overflow the same input never passes: fewer words of every piece of evidence may."""
    if state.phase is not Phase.SYNTHESISING:
        return _synthesise(state)
    smaller = state.evidence_tokens // 2
    if smaller < LEAST_EVIDENCE_TOKENS:
        return _give_up(state, "ModelInputTooLong", "the evidence does not fit the model however short it is cut")
    return _ask(replace(state, evidence_tokens=smaller), Phase.SYNTHESISING)


def _synthesise(state: RunState) -> tuple[RunState, Action]:
    if state.found == 0:
        return _finish(state, None)
    room = max(LEAST_EVIDENCE_TOKENS, int(_EVIDENCE_SHARE * state.limits.context_tokens))
    return _ask(replace(state, evidence_tokens=room), Phase.SYNTHESISING)


def _ask(state: RunState, phase: Phase) -> tuple[RunState, Action]:
    return replace(state, phase=phase, asked=state.asked + 1), AskModel(_TASKS[phase])


def _finish(state: RunState, said: JsonObject | None) -> tuple[RunState, Action]:
    return replace(state, phase=Phase.ENDED), Finish(said)


def _give_up(state: RunState, error: str, message: str) -> tuple[RunState, Action]:
    return replace(state, phase=Phase.ENDED), GiveUp(error, message)
