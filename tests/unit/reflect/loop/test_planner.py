"""The decisions of a reflect run, whatever the model says and however the provider fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.loop.closing import LEAST_EVIDENCE_TOKENS
from hindsight_aws.reflect.loop.planner import plan
from hindsight_aws.reflect.loop.state import (
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
    RunLimits,
    RunState,
    RunTools,
    Searched,
    Use,
)

LIMITS = RunLimits(
    "Who?", ("search_observations", "recall"), ("search_observations", "recall", "expand"), 5, 100_000, True
)
NEW = RunState(LIMITS)
ASKING = replace(NEW, phase=Phase.ASKING, asked=1, found=3, searched=True, recalled=True)
CLOSING = replace(ASKING, phase=Phase.CLOSING, task="reflect_closing")
SYNTHESISING = replace(ASKING, phase=Phase.SYNTHESISING, task="reflect_synthesis", evidence_tokens=80_000)


def use(name: str, **said: object) -> Use:
    given: JsonObject = {key: value for key, value in said.items() if isinstance(value, str | int | bool | list)}
    return Use("id", name, given)


def replied(*uses: Use) -> Replied:
    return Replied(uses)


def test_the_first_round_asks_every_layer_the_question_without_a_model() -> None:
    state, action = plan(NEW, Began())

    assert isinstance(action, RunTools)
    assert [(call.name, call.said["query"]) for call in action.calls] == [
        ("search_observations", "Who?"),
        ("recall", "Who?"),
    ]
    assert state.asked == 0


def test_a_bank_that_holds_nothing_is_answered_at_once() -> None:
    _, action = plan(replace(NEW, limits=replace(LIMITS, has_memories=False)), Began())

    assert action == Finish()


def test_one_turn_means_closing_at_once() -> None:
    state, action = plan(replace(NEW, limits=replace(LIMITS, turns=1), phase=Phase.SEARCHING), Searched(2, 10))

    assert (state.phase, action) == (Phase.CLOSING, AskModel("reflect_closing"))


def test_a_conversation_past_the_context_is_answered_from_fitted_evidence() -> None:
    state, action = plan(replace(NEW, phase=Phase.SEARCHING), Searched(2, 100_000))

    assert (state.evidence_tokens, action) == (80_000, AskModel("reflect_synthesis"))


def test_even_a_context_of_one_token_leaves_room_for_evidence() -> None:
    small = replace(NEW, limits=replace(LIMITS, context_tokens=1), phase=Phase.SEARCHING)

    state, _ = plan(small, Searched(2, 10))

    assert state.evidence_tokens == LEAST_EVIDENCE_TOKENS


@pytest.mark.parametrize("name", ["done", "functions.done", "call=done", "done<|x|>", " done "])
def test_done_is_known_under_its_decorations(name: str) -> None:
    _, action = plan(ASKING, replied(use(name, answer="She.", memory_ids=["f1"])))

    assert isinstance(action, Finish)
    assert action.answer is not None
    assert (action.answer["answer"], action.answer["cited"]) == ("She.", ["f1"])


@pytest.mark.parametrize(("said", "found"), [("false", False), (False, False), (True, True), ("yes", True)])
def test_whether_an_answer_was_found_is_read_from_what_models_write(said: object, found: bool) -> None:
    _, action = plan(ASKING, replied(use("done", answer="x", answer_found=said)))

    assert isinstance(action, Finish)
    assert action.answer is not None
    assert action.answer["answer_found"] is found


def test_an_answer_beside_a_search_waits_for_its_results() -> None:
    state, action = plan(ASKING, replied(use("done", answer="x"), use("recall", query="more")))

    assert isinstance(action, RunTools)
    assert [call.name for call in action.calls] == ["recall"]
    assert state.phase is Phase.SEARCHING


def test_an_answer_beside_an_unknown_tool_stands() -> None:
    _, action = plan(ASKING, replied(use("web_search", query="x"), use("done", answer="x")))

    assert isinstance(action, Finish)


@pytest.mark.parametrize(
    "reply", [replied(), replied(use("done", answer=" ")), replied(use("answer_ready", answer_found=True))]
)
def test_a_turn_without_an_answer_or_a_search_is_closed(reply: Replied) -> None:
    _, action = plan(ASKING, reply)

    assert action == AskModel("reflect_closing")


def test_only_refused_calls_go_back_to_the_model() -> None:
    _, action = plan(ASKING, replied(use("recall", query=""), use("nope")))

    assert isinstance(action, RunTools)
    assert all(call.refusal for call in action.calls)


def test_a_ninth_tool_at_once_is_refused() -> None:
    _, action = plan(ASKING, replied(*[use("recall", query="x")] * 9))

    assert isinstance(action, RunTools)
    assert [call.refusal is None for call in action.calls] == [True] * 8 + [False]


def test_nothing_found_is_never_an_answer() -> None:
    _, action = plan(replace(CLOSING, found=0), replied(use("done", answer="Surely!", answer_found=True)))

    assert action == Finish()


def test_saying_that_nothing_is_known_is_an_answer() -> None:
    _, action = plan(replace(CLOSING, found=0), replied(use("done", answer="Nichts bekannt.", answer_found=False)))

    assert isinstance(action, Finish)
    assert action.answer is not None


def test_an_overflow_halves_the_evidence_until_nothing_is_left_to_halve() -> None:
    state, budgets = SYNTHESISING, []
    action: Action = AskModel("reflect_synthesis")
    while isinstance(action, AskModel):
        state, action = plan(state, Broke("ModelInputTooLong"))
        budgets.append(state.evidence_tokens)

    assert budgets[:3] == [40_000, 20_000, 10_000]
    assert isinstance(action, GiveUp)
    assert action.error == "ModelInputTooLong"


@pytest.mark.parametrize("error", ["ModelReplyMalformed", "ModelReplyTruncated"])
def test_after_a_wrong_reply_something_else_is_asked(error: str) -> None:
    asked = [plan(state, Broke(error))[1] for state in (ASKING, CLOSING, SYNTHESISING)]

    assert asked[:2] == [AskModel("reflect_closing"), AskModel("reflect_synthesis")]
    assert isinstance(asked[2], GiveUp)


def test_a_passing_failure_is_asked_once_more_and_two_in_a_row_end_the_run() -> None:
    once, action = plan(ASKING, Broke("ModelThrottled"))
    _, end = plan(once, Broke("ModelUnavailable"))

    assert action == AskModel("reflect_turn")
    assert isinstance(end, GiveUp)


def test_a_reply_forgives_the_failure_before_it() -> None:
    failed, _ = plan(ASKING, Broke("ModelThrottled"))

    searching, _ = plan(failed, replied(use("recall", query="x")))

    assert searching.failures == 0


@pytest.mark.parametrize("phase", [Phase.NEW, Phase.CLOSING, Phase.SYNTHESISING])
def test_out_of_time_without_an_answer_fails_the_run(phase: Phase) -> None:  # [X025]
    _, action = plan(replace(ASKING, phase=phase), RanOut())

    assert isinstance(action, GiveUp)
    assert action.error == "ReflectTimeout"


def test_out_of_time_after_a_search_answers_from_what_it_found_and_fails_when_it_found_nothing() -> None:
    searching = replace(NEW, phase=Phase.SEARCHING)

    assert plan(searching, Searched(2, 10, is_late=True))[1] == AskModel("reflect_closing")
    assert isinstance(plan(searching, Searched(0, 10, is_late=True))[1], GiveUp)


def test_out_of_time_closes_while_there_is_something_to_close_with() -> None:
    assert plan(ASKING, RanOut())[1] == AskModel("reflect_closing")
    assert isinstance(plan(CLOSING, RanOut())[1], GiveUp)


def test_an_event_that_cannot_follow_is_refused() -> None:
    with pytest.raises(ValueError, match="Replied cannot follow phase new"):
        plan(NEW, replied())


PAGES = ("search_mental_models", "search_observations", "recall")
FORCED = RunState(replace(LIMITS, first=PAGES, tools=PAGES, sequential=True))


def asked(state: RunState, event: Event) -> tuple[RunState, str | None]:
    """The state, and the tool that the model must use now."""
    state, action = plan(state, event)
    assert isinstance(action, AskModel), action
    assert action.tool == state.forced
    return state, action.tool


def told(state: RunState, name: str, found: int = 3, **said: object) -> RunState:
    """The state while the tool runs that the model was told to use."""
    state, action = plan(state, replied(use(name, query="x", **said)))
    assert isinstance(action, RunTools)
    return state


@pytest.mark.parametrize(
    ("first", "asked_for"),
    [
        pytest.param(PAGES, [*PAGES, None], id="[X002]"),
        pytest.param(PAGES[1:], [*PAGES[1:], None], id="[X003] no pages"),
        pytest.param(("recall",), ["recall", None], id="[X003] raw facts alone"),
        pytest.param(("search_observations",), ["search_observations", None], id="[X003] observations alone"),
    ],
)
def test_one_by_one_every_layer_is_forced_in_its_order(first: tuple[str, ...], asked_for: list[str | None]) -> None:
    state, tool = asked(RunState(replace(LIMITS, first=first, tools=first, sequential=True)), Began())
    forced = [tool]
    while tool is not None:
        state, tool = asked(told(state, tool), Searched(1, 10))
        forced.append(tool)

    assert forced == asked_for


@pytest.mark.parametrize(
    ("suffice", "thorough", "tool"),
    [
        pytest.param(True, False, None, id="[X004] low"),
        pytest.param(True, True, "search_observations", id="[X004] high"),
        pytest.param(False, False, "search_observations", id="[X005]"),
    ],
)
def test_pages_that_suffice_end_the_forced_order_unless_thorough(
    suffice: bool, thorough: bool, tool: str | None
) -> None:
    state, _ = asked(replace(FORCED, limits=replace(FORCED.limits, thorough=thorough)), Began())

    _, forced = asked(told(state, "search_mental_models"), Searched(1, 10, pages_suffice=suffice))

    assert forced == tool


def test_with_too_few_turns_for_one_by_one_the_layers_are_asked_at_once() -> None:
    _, action = plan(replace(FORCED, limits=replace(FORCED.limits, turns=3)), Began())

    assert isinstance(action, RunTools)
    assert len(action.calls) == 3


UNSEARCHED = replace(ASKING, searched=False, recalled=False, found=0)


@pytest.mark.parametrize("name", ["done", "answer_ready"])
def test_an_end_before_any_search_is_refused_to_the_model(name: str) -> None:  # [X006]
    state, action = plan(UNSEARCHED, replied(use(name, answer="Surely.", answer_found=True)))

    assert isinstance(action, RunTools)
    assert [(call.name, call.refusal is not None) for call in action.calls] == [(name, True)]
    assert state.phase is Phase.SEARCHING


def test_on_the_last_turn_nothing_is_refused_and_still_nothing_is_made_up() -> None:  # [X006]
    _, action = plan(replace(UNSEARCHED, phase=Phase.SEARCHING, asked=4), Searched(0, 10))

    assert action == Finish()


@pytest.mark.parametrize("said", [False, "false", "No"], ids=["bool", "[X008]", "word"])
def test_absence_before_recall_forces_recall_exactly_once(said: object) -> None:  # [X007]
    state = replace(ASKING, recalled=False)
    state, action = plan(state, replied(use("done", answer="Unknown.", answer_found=said)))
    assert isinstance(action, RunTools)
    assert action.calls[0].refusal is not None

    state, tool = asked(state, Searched(3, 10))
    state, _ = asked(told(state, "recall"), Searched(3, 10))
    _, end = plan(state, replied(use("done", answer="Unknown.", answer_found=said)))

    assert tool == "recall"
    assert isinstance(end, Finish)
    assert end.answer is not None
    assert end.answer["answer_found"] is False


def test_absence_is_accepted_where_single_facts_may_not_be_seen() -> None:
    state = replace(ASKING, recalled=False, limits=replace(LIMITS, tools=("search_observations",)))

    _, action = plan(state, replied(use("answer_ready", answer_found=False)))

    assert action == AskModel("reflect_closing")


def test_ready_beside_a_search_waits_for_it_and_is_asked_again() -> None:  # [X009]
    state, action = plan(ASKING, replied(use("answer_ready", answer_found=True), use("recall", query="more")))
    assert isinstance(action, RunTools)
    assert [call.name for call in action.calls] == ["recall"]

    assert plan(state, Searched(4, 10))[1] == AskModel("reflect_turn")


def test_a_model_that_never_calls_a_tool_fails_the_run_and_the_error_names_what_was_asked() -> None:  # [X010]
    state, _ = asked(FORCED, Began())

    state, tool = asked(state, Replied((), stop="end_turn"))
    _, end = plan(state, Replied((), stop="end_turn"))

    assert tool == "search_mental_models"
    assert isinstance(end, GiveUp)
    assert "tool_choice" in end.message
    assert "end_turn" in end.message


def test_prose_after_evidence_is_closed() -> None:  # [X010]
    assert plan(ASKING, Replied((), stop="end_turn"))[1] == AskModel("reflect_closing")


@pytest.mark.parametrize("wrong", [Replied(()), Broke("ModelReplyMalformed"), replied(use("done", answer="x"))])
def test_a_forced_tool_that_is_not_used_is_asked_for_once_more_then_the_run_answers(wrong: Event) -> None:  # [X011]
    state, _ = asked(FORCED, Began())
    state, _ = asked(told(state, "search_mental_models"), Searched(2, 10))

    state, tool = asked(state, wrong)
    _, end = plan(state, wrong)

    assert tool == "search_observations"
    assert state.problem is not None
    assert end == AskModel("reflect_closing")


def test_a_provider_that_fails_once_is_asked_for_the_same_layer_again_and_twice_ends_the_run() -> None:  # [X012]
    state, _ = asked(FORCED, Began())

    state, tool = asked(state, Broke("ModelThrottled"))
    _, end = plan(state, Broke("ModelThrottled"))

    assert tool == "search_mental_models"
    assert isinstance(end, GiveUp)


def test_an_overflow_is_answered_from_the_evidence_without_the_conversation() -> None:  # [X013]
    state, action = plan(ASKING, Broke("ModelInputTooLong"))

    assert (state.phase, action) == (Phase.SYNTHESISING, AskModel("reflect_synthesis"))


def test_a_full_conversation_is_compacted_for_what_is_still_forced_and_answered_from_all_of_it() -> None:  # [X014]
    state, _ = asked(replace(FORCED, limits=replace(FORCED.limits, first=PAGES[1:])), Began())

    state, tool = asked(told(state, "search_observations"), Searched(2, 200_000))
    compacted = state
    state, end = plan(told(state, "recall"), Searched(5, 90_000))

    assert (tool, compacted.is_compacted) == ("recall", True)
    assert end == AskModel("reflect_synthesis")
    assert state.evidence_tokens == 80_000


def test_an_unknown_tool_is_refused_in_its_place_and_the_others_run() -> None:  # [X020]
    _, action = plan(ASKING, replied(use("web_search", query="x"), use("recall", query="y")))

    assert isinstance(action, RunTools)
    assert [call.refusal is None for call in action.calls] == [False, True]


@pytest.mark.parametrize("name", ["functions.recall", "call=recall", "call=functions.recall", "recall<|x|>"])
def test_a_search_is_known_under_its_decorations(name: str) -> None:  # [X021]
    _, action = plan(ASKING, replied(use(name, query="y")))

    assert isinstance(action, RunTools)
    assert [(call.name, call.refusal) for call in action.calls] == [("recall", None)]


def test_ids_are_unique_within_a_batch_and_across_turns() -> None:  # [X022]
    again = replied(Use("same", "recall", {"query": "a"}), Use("", "recall", {"query": "b"}))
    state, first = plan(ASKING, again)
    state, _ = plan(state, Searched(3, 10))
    _, second = plan(state, again)

    assert isinstance(first, RunTools)
    assert isinstance(second, RunTools)
    ids = [call.use_id for call in (*first.calls, *second.calls)]
    assert len(set(ids)) == 4
    assert [call.said["query"] for call in first.calls] == ["a", "b"]
