"""Decides what a reflect run does next: one pure function from state and event to state and action.

Called by the step `plan`; reads and writes nothing.  Here is the search; closing.py decides from the evidence on.
"""

from __future__ import annotations

from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.conversation.calls import (
    ANSWER_READY,
    DONE,
    RECALL,
    SEARCH_MENTAL_MODELS,
    SEARCH_OBSERVATIONS,
    check_call,
    conclusion,
    normalised,
)
from hindsight_aws.reflect.loop.closing import (
    MOST_PASSING_FAILURES,
    PASSING,
    UNREADABLE,
    ask,
    claim,
    close,
    conclude,
    give_up,
    out_of_time,
    recover_ending,
    synthesise,
    weigh_ending,
)
from hindsight_aws.reflect.loop.state import (
    TURN_TASK,
    Action,
    Began,
    Broke,
    Claimed,
    Event,
    Phase,
    RanOut,
    Replied,
    RunState,
    RunTools,
    Searched,
    ToolCall,
    Use,
)

_SEARCHES = frozenset({SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS, RECALL})
_MOST_CALLS_AT_ONCE = 8
_MOST_MISSES = 2
_SEARCH_FIRST = "Nothing was searched yet: search before you end."
_RECALL_FIRST = "Before nothing is known for sure, look for single facts with `recall`."


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
        case Phase.ASKING, Replied():
            return _weigh(replace(state, failures=0), event)
        case Phase.ASKING, Broke():
            return _recover(state, event.error)
        case Phase.CLAIMING, Claimed():
            return claim(state)
        case ((Phase.CLOSING | Phase.SYNTHESISING | Phase.FINISHING), Replied()):
            return weigh_ending(replace(state, failures=0), event)
        case ((Phase.CLOSING | Phase.CLAIMING | Phase.SYNTHESISING | Phase.FINISHING), Broke()):
            return recover_ending(state, event.error)
        case (_, RanOut()) if state.phase not in (Phase.SEARCHING, Phase.ENDED):
            return out_of_time(state)
    raise ValueError(f"{type(event).__name__} cannot follow phase {state.phase}")


def _begin(state: RunState) -> tuple[RunState, Action]:
    """The first round needs no model: every layer is asked the question, at once; unless one by one is wished."""
    limits = state.limits
    if not limits.has_memories:
        return close(state)
    if not limits.first:
        return _turn(state)
    if limits.looks_one_by_one:
        return _turn(replace(state, pending=limits.first))
    said: JsonObject = {"reason": "First look.", "query": limits.question}
    calls = tuple(
        ToolCall(f"first-{index}", name, said, check_call(name, said, limits.tools))
        for index, name in enumerate(limits.first)
    )
    return _run(state, calls)


def _turn(state: RunState) -> tuple[RunState, Action]:
    """One more turn of the model; the last one of the budget must answer."""
    if state.asked + 1 >= state.limits.turns:
        return close(state)
    forced = _forced(state)
    return ask(replace(state, forced=forced), Phase.ASKING, TURN_TASK, tool=forced)


def _forced(state: RunState) -> str | None:
    """The tool that the next turn must use, if any."""
    if state.pending:
        return state.pending[0]
    return RECALL if state.absence_forced and not state.recalled else None


def _run(state: RunState, calls: tuple[ToolCall, ...]) -> tuple[RunState, Action]:
    names = {call.name for call in calls if call.refusal is None}
    met = state.forced in names
    state = replace(
        state,
        phase=Phase.SEARCHING,
        searched=state.searched or bool(names & _SEARCHES),
        recalled=state.recalled or RECALL in names,
        pending=tuple(name for name in state.pending if name not in names),
        missed=0 if met else state.missed,
        problem=None,
        forced=None,
    )
    return state, RunTools(calls)


def _read(state: RunState, event: Searched) -> tuple[RunState, Action]:
    state = replace(state, found=event.found, sizes=event.sizes)
    if event.is_late:
        return close(state) if state.found else out_of_time(state)
    if event.pages_suffice and not state.limits.thorough:
        state = replace(state, pending=())
    is_forced = _forced(state) is not None
    if event.tokens >= state.limits.context_tokens:
        if not is_forced:
            return synthesise(state)
        state = replace(state, is_compacted=True)
    elif state.is_compacted and not is_forced:
        return synthesise(state)
    return _turn(state)


def _weigh(state: RunState, reply: Replied) -> tuple[RunState, Action]:
    uses = [replace(use, name=normalised(use.name)) for use in reply.uses]
    state = replace(state, used_tools=state.used_tools or bool(uses))
    calls = _calls(state, [use for use in uses if use.name not in (DONE, ANSWER_READY)])
    runs = {call.name for call in calls if call.refusal is None}
    if state.forced is not None and state.forced not in runs:
        return _missed(state, calls, reply.stop)
    ended = next((use for use in uses if use.name in (DONE, ANSWER_READY)), None)
    if runs or (calls and ended is None):
        return _run(state, calls)
    if ended is None:
        return close(state)
    refusal = _gate(state, ended)
    if refusal is not None:
        refused = ToolCall(f"use-{state.asked}-{len(calls)}", ended.name, ended.input, refusal)
        state = replace(state, absence_forced=state.absence_forced or refusal == _RECALL_FIRST)
        return _run(state, (*calls, refused))
    said = conclusion(ended.input) if ended.name == DONE and state.limits.answers else None
    return close(state) if said is None else conclude(state, said)


def _gate(state: RunState, ended: Use) -> str | None:
    """Why the search is not over yet: nothing was searched, or nothing found where single facts were not looked for."""
    if not state.searched:
        return _SEARCH_FIRST
    found = conclusion({"answer": "-", **ended.input}) or {}
    is_absent = found.get("answer_found") is False
    if is_absent and RECALL in state.limits.tools and not state.recalled and not state.absence_forced:
        return _RECALL_FIRST
    return None


def _calls(state: RunState, uses: list[Use]) -> tuple[ToolCall, ...]:
    """The uses as tool calls with ids of their own: models repeat ids, or leave them blank."""
    calls = []
    for index, use in enumerate(uses):
        refusal = check_call(use.name, use.input, state.limits.tools)
        if index >= _MOST_CALLS_AT_ONCE:
            refusal = f"At most {_MOST_CALLS_AT_ONCE} tools at once; ask again for this one."
        calls.append(ToolCall(f"use-{state.asked}-{index}", use.name, use.input, refusal))
    return tuple(calls)


def _missed(state: RunState, calls: tuple[ToolCall, ...], stop: str) -> tuple[RunState, Action]:
    """A tool that had to be used was not: asked for once more, then the run answers from what there is."""
    state = replace(state, missed=state.missed + 1)
    if state.missed < _MOST_MISSES:
        if calls:
            return _run(state, calls)
        return _turn(replace(state, problem=f"The last reply did not use `{state.forced}`: use it now."))
    if not state.used_tools and not state.found:
        said = f"its tool_choice was {state.forced!r}, its stop reason {stop or 'not told'!r}"
        return give_up(state, "ModelReplyMalformed", f"the model does not call tools: {said}")
    return close(replace(state, pending=()))


def _recover(state: RunState, error: str) -> tuple[RunState, Action]:
    if error == "ModelInputTooLong" and state.found:
        return synthesise(state)
    if error in UNREADABLE:
        return close(state) if state.forced is None else _missed(state, (), error)
    failures = state.failures + 1
    if error not in PASSING or failures >= MOST_PASSING_FAILURES:
        return give_up(state, error, "the model could not be asked")
    return ask(replace(state, failures=failures), Phase.ASKING, TURN_TASK, tool=state.forced)
