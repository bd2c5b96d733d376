"""From the evidence on: endings asked in turn, an answer shortened, checked and put into a schema, and what breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.loop.planner import plan
from hindsight_aws.reflect.loop.state import (
    Action,
    AskModel,
    Began,
    Broke,
    Claimed,
    Event,
    ExtractClaims,
    Finish,
    GiveUp,
    Phase,
    RanOut,
    Replied,
    RunLimits,
    RunState,
    Searched,
    Use,
)

AFTER = ("reflect_rewrite", "verify_directives", "structured_answer")
LIMITS = RunLimits("Who?", ("recall",), ("recall",), 5, 100_000, True, after=AFTER, max_tokens=5)
ASKING = RunState(LIMITS, Phase.ASKING, asked=1, found=3, searched=True, recalled=True)
SEARCHING = replace(ASKING, phase=Phase.SEARCHING)
SHORT, LONG = "She does.", "She does, and everybody who was there saw her do it."


def said(**given: object) -> Replied:
    document: JsonObject = {key: value for key, value in given.items() if isinstance(value, str | bool | list)}
    return Replied((Use("id", "done", document),))


def answered(text: str = SHORT, after: tuple[str, ...] = AFTER) -> tuple[RunState, Action]:
    """A run just after its answer."""
    return plan(replace(ASKING, limits=replace(LIMITS, after=after)), said(answer=text, answer_found=True))


def go(state: RunState, *events: Event) -> tuple[RunState, list[str], Action]:
    """The state at the end of these events, the tasks that were asked, and the last action."""
    tasks, action = [], None
    for event in events:
        state, action = plan(state, event)
        tasks.append(action.task if isinstance(action, AskModel) else type(action).__name__)
    assert action is not None
    return state, tasks, action


def refused(why: str) -> Replied:
    return replace(said(answer="x"), refusal=why)


VIOLATED = said(violations=[{"directive_id": "d1", "reason": "names a customer"}])
CLEAN = said(violations=[])


def test_what_follows_an_answer_comes_in_its_order_and_a_short_answer_is_not_rewritten() -> None:
    state, first = answered()

    _, tasks, end = go(state, CLEAN, said(name="Bea"))

    assert first == AskModel("verify_directives")
    assert tasks == ["structured_answer", "Finish"]
    assert isinstance(end, Finish)
    assert end.said["structured_answer"] == {"name": "Bea"}
    assert end.failed == {}


@pytest.mark.parametrize(
    ("rewritten", "stands"),
    [
        pytest.param("She.", "She.", id="[X018]"),
        pytest.param("", LONG, id="[X018] empty"),
        pytest.param(LONG + " Twice.", LONG, id="longer"),
    ],
)
def test_an_answer_that_is_too_long_is_rewritten_once(rewritten: str, stands: str) -> None:
    state, first = answered(LONG, ("reflect_rewrite",))

    _, tasks, end = go(state, said(answer=rewritten))

    assert first == AskModel("reflect_rewrite")
    assert tasks == ["Finish"]
    assert isinstance(end, Finish)
    assert end.answer is not None
    assert end.answer["answer"] == stands


def test_a_violation_is_mended_once_and_checked_again() -> None:
    state, _ = answered()

    _, tasks, end = go(state, VIOLATED, said(answer="Somebody does."), CLEAN, said(name="x"))

    assert tasks == ["reflect_rewrite", "verify_directives", "structured_answer", "Finish"]
    assert isinstance(end, Finish)
    assert end.answer is not None
    assert end.answer["answer"] == "Somebody does."
    assert end.said["verify_directives"] == {"violations": []}


def test_a_violation_that_stays_is_told_with_the_answer() -> None:
    state, _ = answered(after=AFTER[:2])

    _, tasks, end = go(state, VIOLATED, said(answer="Still Bea."), VIOLATED)

    assert tasks == ["reflect_rewrite", "verify_directives", "Finish"]
    assert isinstance(end, Finish)
    assert end.said["verify_directives"]["violations"]


def test_an_answer_that_could_not_be_mended_is_not_checked_a_second_time() -> None:
    state, _ = answered(after=AFTER[:2])

    _, tasks, end = go(state, VIOLATED, said(answer=" "))

    assert tasks == ["reflect_rewrite", "Finish"]
    assert isinstance(end, Finish)
    assert end.said["verify_directives"]["violations"]


def test_a_structured_answer_is_repaired_once_then_told_as_failed() -> None:
    state, _ = answered(after=("structured_answer",))

    once, tasks, end = go(state, refused("name is missing"))
    _, _, repaired = go(once, said(name="Bea"))
    _, _, failed = go(once, refused("name is no text"))

    assert (tasks, once.problem) == (["structured_answer"], "name is missing")
    assert isinstance(end, AskModel)
    assert isinstance(repaired, Finish)
    assert isinstance(failed, Finish)
    assert repaired.said["structured_answer"] == {"name": "Bea"}
    assert failed.failed == {"structured_answer": "name is no text"}
    assert failed.answer is not None


@pytest.mark.parametrize("event", [Broke("ModelRefused"), Broke("ModelInputTooLong"), RanOut()])
@pytest.mark.parametrize("task", AFTER)
def test_what_only_follows_an_answer_never_costs_it(task: str, event: Event) -> None:
    state, action = answered(LONG, (task,))
    assert action == AskModel(task)

    _, _, end = go(state, event)

    assert isinstance(end, Finish)
    assert end.answer is not None
    assert task in end.failed


def test_throttling_after_the_answer_is_asked_once_more() -> None:
    state, _ = answered()

    _, tasks, _ = go(state, Broke("ModelThrottled"), Broke("ModelThrottled"))

    assert tasks == ["verify_directives", "structured_answer"]


def test_what_is_not_known_is_neither_checked_nor_structured() -> None:
    _, action = plan(replace(ASKING, found=0), said(answer="Bea!", answer_found=True))

    assert action == Finish()


PAGE = replace(SEARCHING, limits=replace(LIMITS, endings=("retract", "refresh_ops"), after=()))


def page_closing() -> RunState:
    state, _, _ = go(PAGE, Searched(3, 10), Replied((Use("id", "answer_ready", {"answer_found": True}),)))
    return state


def test_a_pages_endings_are_asked_in_turn_and_their_replies_kept_by_task() -> None:
    state = page_closing()

    _, tasks, end = go(state, said(operations=["a"]), said(operations=["b"]))

    assert state.task == "retract"
    assert state.evidence_tokens == 80_000
    assert tasks == ["refresh_ops", "Finish"]
    assert isinstance(end, Finish)
    assert end.said == {"retract": {"operations": ["a"]}, "refresh_ops": {"operations": ["b"]}}


def test_without_evidence_only_the_ending_that_needs_none_is_asked() -> None:
    _, tasks, _ = go(PAGE, Searched(0, 10), said(answer="x", answer_found=False), said(operations=[]))

    assert tasks == ["reflect_turn", "retract", "Finish"]


def test_a_page_with_nothing_in_scope_costs_no_model_call() -> None:
    limits = replace(LIMITS, endings=("refresh_document",), has_memories=False)

    assert plan(RunState(limits), Began())[1] == Finish()


@pytest.mark.parametrize("wrong", [refused("op 2 is unknown"), Replied(()), Broke("ModelReplyMalformed")])
def test_an_ending_that_is_refused_is_asked_once_more_then_the_run_fails(wrong: Event) -> None:
    again, tasks, _ = go(page_closing(), wrong)
    _, _, end = go(again, wrong)

    assert tasks == ["retract"]
    assert again.problem
    assert isinstance(end, GiveUp)


def test_a_page_past_the_models_context_is_shown_less_evidence() -> None:
    state, tasks, _ = go(page_closing(), Broke("ModelInputTooLong"))

    assert (tasks, state.evidence_tokens) == (["retract"], 40_000)


FULL = replace(SEARCHING, limits=replace(LIMITS, context_tokens=10_000, after=()))
PARTS = Searched(6, 20_000, sizes=(3_000,) * 6)


def test_evidence_past_one_call_is_read_in_parts_then_answered_from_their_claims() -> None:  # [X016]
    state, _, first = go(FULL, PARTS)
    _, tasks, end = go(state, Claimed(), said(answer=SHORT, answer_found=True))

    assert first == ExtractClaims(((0, 2), (2, 4), (4, 6)), 8_000)
    assert tasks == ["reflect_synthesis", "Finish"]
    assert isinstance(end, Finish)


def test_a_part_that_overflows_makes_smaller_parts() -> None:
    _, _, action = go(FULL, PARTS, Broke("ModelInputTooLong"))

    assert action == ExtractClaims(tuple((place, place + 1) for place in range(6)), 4_000)


def test_a_part_that_cannot_be_read_is_asked_once_more_then_the_evidence_is_cut_instead() -> None:
    once, _, again = go(FULL, PARTS, Broke("ModelReplyMalformed"))
    state, tasks, _ = go(once, Broke("ModelReplyMalformed"))

    assert isinstance(again, ExtractClaims)
    assert once.problem is not None
    assert (tasks, state.chunks) == (["reflect_synthesis"], ())


def test_a_provider_that_fails_twice_among_the_parts_ends_the_run() -> None:
    _, tasks, _ = go(FULL, PARTS, Broke("ModelThrottled"), Broke("ModelThrottled"))

    assert tasks[1:] == ["ExtractClaims", "GiveUp"]


def test_out_of_time_among_the_parts_is_answered_at_once_from_cut_evidence() -> None:
    state, tasks, _ = go(FULL, PARTS, RanOut())

    assert (tasks[-1], state.chunks, state.evidence_tokens) == ("reflect_synthesis", (), 8_000)


def test_an_empty_synthesis_fails_the_run() -> None:  # [X017]
    state, _, _ = go(replace(ASKING, limits=replace(LIMITS, after=())), Broke("ModelInputTooLong"))

    _, _, end = go(state, said(answer=" "))

    assert isinstance(end, GiveUp)
