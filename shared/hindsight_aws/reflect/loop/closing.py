"""Decides from the evidence on: which ending is asked, what a reply to it is worth, and what may follow an answer.

Called by planner.py; pure as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.conversation.calls import conclusion
from hindsight_aws.reflect.conversation.claims import pack
from hindsight_aws.reflect.loop.state import (
    CLOSING_TASK,
    RETRACT_TASK,
    REWRITE_TASK,
    STRUCTURE_TASK,
    SYNTHESIS_TASK,
    VERIFY_TASK,
    Action,
    AskModel,
    ExtractClaims,
    Finish,
    GiveUp,
    Phase,
    Replied,
    RunState,
)
from hindsight_aws.text.tokens import count_tokens

LEAST_EVIDENCE_TOKENS = 1_024
MOST_PASSING_FAILURES = 2
PASSING = ("ModelThrottled", "ModelUnavailable")
UNREADABLE = ("ModelReplyMalformed", "ModelReplyTruncated")
OUT_OF_TIME = "ReflectTimeout"

_EVIDENCE_SHARE = 0.8
_REPAIRED = (VERIFY_TASK, STRUCTURE_TASK)
_UNREADABLE_REPLY = "The last reply could not be read, or was cut: answer shorter, with the tool alone."


def close(state: RunState) -> tuple[RunState, Action]:
    """The evidence is in: the endings are asked in turn."""
    limits = state.limits
    if limits.answers and state.is_compacted:
        return synthesise(state)
    fitted = 0 if limits.answers else _room(state)
    ahead = (*limits.endings, *limits.after)
    return _next(replace(state, ahead=ahead, evidence_tokens=fitted))


def conclude(state: RunState, said: JsonObject) -> tuple[RunState, Action]:
    """An answer was given; it stands if anything was found, or if it says that nothing was."""
    ahead = state.ahead if state.phase is Phase.CLOSING else state.limits.after
    if state.found == 0 and said["answer_found"] is True:
        return _finish(state)
    return _next(replace(state, said={**state.said, CLOSING_TASK: said}, ahead=ahead))


def synthesise(state: RunState) -> tuple[RunState, Action]:
    """Answers from the evidence alone, without the conversation; a page's endings are always asked so."""
    if not state.limits.answers:
        return close(state)
    if state.found == 0:
        return _finish(state)
    return _from_evidence(replace(state, evidence_tokens=_room(state)))


def claim(state: RunState) -> tuple[RunState, Action]:
    """Every part was read: the answer is made from the claims."""
    return ask(replace(state, failures=0, problem=None), Phase.SYNTHESISING, SYNTHESIS_TASK)


def weigh_ending(state: RunState, reply: Replied) -> tuple[RunState, Action]:
    """What a reply to an ending, or to a task after it, is worth."""
    given = reply.uses[0].input if reply.uses else None
    if state.phase is Phase.SYNTHESISING or state.task == CLOSING_TASK:
        return _weigh_answer(state, given, reply.refusal)
    refusal = reply.refusal if given is not None else f"The reply did not use the tool `{state.task}`."
    if given is None or refusal is not None:
        return _refused(state, refusal or "")
    said = {**state.said, state.task: given}
    if state.task == REWRITE_TASK:
        return _rewritten(state, said, given)
    if state.task == VERIFY_TASK and _violations(said) and not state.is_rechecked:
        ahead = (REWRITE_TASK, VERIFY_TASK, *state.ahead)
        return _next(replace(state, said=said, ahead=ahead, is_rechecked=True))
    return _next(replace(state, said=said))


def recover_ending(state: RunState, error: str) -> tuple[RunState, Action]:
    """What to do when a call from the evidence on broke; what only follows an answer never costs it."""
    failures = state.failures + 1
    if error in PASSING and failures < MOST_PASSING_FAILURES:
        return _again(replace(state, failures=failures))
    if state.phase is Phase.FINISHING:
        if error in UNREADABLE and state.task in _REPAIRED:
            return _refused(state, _UNREADABLE_REPLY)
        return _next(_without(state, error))
    if error == "ModelInputTooLong":
        return _with_less(state)
    if error in UNREADABLE:
        return _unreadable(state, error)
    return give_up(state, error, "the model could not be asked")


def out_of_time(state: RunState) -> tuple[RunState, Action]:
    """The time is over but for what one answer takes."""
    if state.phase is Phase.FINISHING:
        return _finish(_without(state, OUT_OF_TIME))
    if state.phase is Phase.CLAIMING:
        return ask(replace(state, chunks=()), Phase.SYNTHESISING, SYNTHESIS_TASK)
    if state.phase is Phase.ASKING and state.found:
        return close(state)
    return give_up(state, OUT_OF_TIME, "the run did not end within its time")


def ask(state: RunState, phase: Phase, task: str, tool: str | None = None) -> tuple[RunState, Action]:
    """One model call of this task."""
    return replace(state, phase=phase, task=task, asked=state.asked + 1), AskModel(task, tool)


def give_up(state: RunState, error: str, message: str) -> tuple[RunState, Action]:
    """The run ends without an answer."""
    return replace(state, phase=Phase.ENDED), GiveUp(error, message)


def _finish(state: RunState) -> tuple[RunState, Action]:
    return replace(state, phase=Phase.ENDED), Finish(state.said, state.failed)


def _next(state: RunState) -> tuple[RunState, Action]:
    """The next task whose condition holds, else the end."""
    for place, task in enumerate(state.ahead):
        if _is_due(state, task):
            phase = Phase.CLOSING if task in state.limits.endings else Phase.FINISHING
            left = replace(state, ahead=state.ahead[place + 1 :], problem=None, missed=0, failures=0, forced=None)
            return ask(left, phase, task)
    return _finish(state)


def _is_due(state: RunState, task: str) -> bool:
    if task == REWRITE_TASK:
        return _is_too_long(state) or _violations(state.said)
    if task in (VERIFY_TASK, STRUCTURE_TASK):
        return bool(state.said)
    return task == RETRACT_TASK or state.found > 0


def _is_too_long(state: RunState) -> bool:
    answer = state.said.get(CLOSING_TASK, {})
    return count_tokens(str(answer.get("answer", ""))) > state.limits.max_tokens


def _violations(said: Mapping[str, JsonObject]) -> bool:
    return bool(said.get(VERIFY_TASK, {}).get("violations"))


def _weigh_answer(state: RunState, given: JsonObject | None, refusal: str | None) -> tuple[RunState, Action]:
    said = None if given is None else conclusion(given)
    if said is not None and refusal is not None and state.problem is None:
        return _again(replace(state, problem=refusal))
    if said is not None:
        return conclude(state, said)
    if state.phase is Phase.CLOSING:
        return synthesise(state)
    return give_up(state, "ModelReplyMalformed", "the model gave no answer when it was asked for one")


def _refused(state: RunState, refusal: str) -> tuple[RunState, Action]:
    """A wrong reply is shown what is wrong with it, once."""
    if state.problem is None and state.task != REWRITE_TASK:
        return _again(replace(state, problem=refusal))
    if state.phase is Phase.FINISHING:
        return _next(_without(state, refusal))
    return give_up(state, "ModelReplyMalformed", refusal)


def _rewritten(state: RunState, said: Mapping[str, JsonObject], given: JsonObject) -> tuple[RunState, Action]:
    """The shorter or mended answer takes the place of the answer; an empty one, or a longer one, does not."""
    answer, text = state.said[CLOSING_TASK], given.get("answer")
    new = text.strip() if isinstance(text, str) else ""
    is_better = bool(new) and (_violations(state.said) or count_tokens(new) < count_tokens(str(answer["answer"])))
    if not is_better:
        return _next(_without(state, "the rewritten answer was no better"))
    return _next(replace(state, said={**said, CLOSING_TASK: {**answer, "answer": new}}))


def _without(state: RunState, why: str) -> RunState:
    """The state without this task's part; an answer that was not rewritten is not checked a second time."""
    ahead = state.ahead
    if state.task == REWRITE_TASK and VERIFY_TASK in state.said:
        ahead = tuple(task for task in ahead if task != VERIFY_TASK)
    return replace(state, failed={**state.failed, state.task: why}, ahead=ahead)


def _again(state: RunState) -> tuple[RunState, Action]:
    if state.phase is Phase.CLAIMING:
        return _extract(state)
    return ask(state, state.phase, state.task)


def _unreadable(state: RunState, error: str) -> tuple[RunState, Action]:
    if state.phase is Phase.CLAIMING:
        if state.problem is None:
            return _extract(replace(state, problem=_UNREADABLE_REPLY))
        return ask(replace(state, chunks=(), problem=None), Phase.SYNTHESISING, SYNTHESIS_TASK)
    if state.phase is Phase.CLOSING and state.task != CLOSING_TASK:
        return _refused(state, _UNREADABLE_REPLY)
    if state.phase is Phase.CLOSING:
        return synthesise(state)
    return give_up(state, error, "the model gave no usable answer when it was asked for one")


def _with_less(state: RunState) -> tuple[RunState, Action]:
    """After an overflow the same input never passes: more and smaller parts may, or fewer words of each piece."""
    if state.phase is Phase.CLOSING and state.limits.answers:
        return synthesise(state)
    smaller = state.evidence_tokens // 2
    if smaller < LEAST_EVIDENCE_TOKENS:
        return give_up(state, "ModelInputTooLong", "the evidence does not fit the model however short it is cut")
    state = replace(state, evidence_tokens=smaller)
    if state.phase is Phase.CLOSING or (state.phase is Phase.SYNTHESISING and state.chunks):
        return _again(state)
    return _from_evidence(state)


def _from_evidence(state: RunState) -> tuple[RunState, Action]:
    """One call when the evidence fits it, else the claims of each part first."""
    chunks, _ = pack(state.sizes, state.evidence_tokens)
    if len(chunks) <= 1:
        return ask(replace(state, chunks=()), Phase.SYNTHESISING, SYNTHESIS_TASK)
    return _extract(replace(state, chunks=chunks))


def _extract(state: RunState) -> tuple[RunState, Action]:
    _, most = pack(state.sizes, state.evidence_tokens)
    asked = state.asked + len(state.chunks)
    return replace(state, phase=Phase.CLAIMING, asked=asked), ExtractClaims(state.chunks, most)


def _room(state: RunState) -> int:
    return max(LEAST_EVIDENCE_TOKENS, int(_EVIDENCE_SHARE * state.limits.context_tokens))
