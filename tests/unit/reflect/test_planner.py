"""The decisions of a reflect run, whatever the model says and however the provider fails."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.codec import action_from_json, action_to_json, state_from_json, state_to_json
from hindsight_aws.reflect.planner import LEAST_EVIDENCE_TOKENS, plan
from hindsight_aws.reflect.state import (
    Action,
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

LIMITS = Limits(
    "Who?", ("search_observations", "recall"), ("search_observations", "recall", "expand"), 5, 100_000, True
)
NEW = RunState(LIMITS)
ASKING = replace(NEW, phase=Phase.ASKING, asked=1, found=3)
CLOSING = replace(ASKING, phase=Phase.CLOSING)
SYNTHESISING = replace(ASKING, phase=Phase.SYNTHESISING, evidence_tokens=80_000)


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
    _, action = plan(replace(NEW, limits=replace(LIMITS, holds_memories=False)), Began())

    assert action == Finish(None)


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

    assert action == Finish({"answer": "She.", "answer_found": True, "cited": ["f1"]})


@pytest.mark.parametrize(("said", "found"), [("false", False), (False, False), (True, True), ("yes", True)])
def test_whether_an_answer_was_found_is_read_from_what_models_write(said: object, found: bool) -> None:
    _, action = plan(ASKING, replied(use("done", answer="x", answer_found=said)))

    assert isinstance(action, Finish)
    assert action.said is not None
    assert action.said["answer_found"] is found


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

    assert action == Finish(None)


def test_saying_that_nothing_is_known_is_an_answer() -> None:
    _, action = plan(replace(CLOSING, found=0), replied(use("done", answer="Nichts bekannt.", answer_found=False)))

    assert isinstance(action, Finish)
    assert action.said is not None


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


def test_out_of_time_closes_while_there_is_something_to_close_with() -> None:
    assert plan(ASKING, RanOut())[1] == AskModel("reflect_closing")
    assert isinstance(plan(CLOSING, RanOut())[1], GiveUp)


def test_an_event_that_cannot_follow_is_refused() -> None:
    with pytest.raises(ValueError, match="Replied cannot follow phase new"):
        plan(NEW, replied())


_texts = st.text(max_size=20)
_values = st.one_of(st.none(), st.booleans(), st.integers(), _texts, st.lists(_texts, max_size=3))
_names = st.sampled_from(
    ["recall", "search_observations", "expand", "done", "answer_ready", "nope", "functions.done", ""]
)
_fields = st.sampled_from(["query", "answer", "answer_found", "memory_ids", "observation_ids", "max_tokens", "depth"])
_uses = st.builds(Use, _texts, _names, st.dictionaries(_fields, _values, max_size=5))
_replies = st.builds(Replied, st.lists(_uses, max_size=10).map(tuple))
_errors = st.sampled_from(["ModelThrottled", "ModelUnavailable", "ModelInputTooLong", "ModelReplyMalformed", "Odd"])
_answers = st.one_of(_replies, st.builds(Broke, _errors), st.just(RanOut()))
_searches = st.one_of(st.builds(Searched, st.integers(0, 50), st.integers(0, 120_000)), st.just(RanOut()))


@given(st.data(), st.integers(1, 20))
def test_every_run_ends_and_is_written_and_read_back_equal(data: st.DataObject, turns: int) -> None:
    state, action = plan(replace(NEW, limits=replace(LIMITS, turns=turns)), Began())
    seen_ids: list[str] = []
    decisions = 1

    while isinstance(action, RunTools | AskModel):
        if isinstance(action, RunTools):
            seen_ids += [call.use_id for call in action.calls]
        event: Event = data.draw(_searches if isinstance(action, RunTools) else _answers)
        state, action = plan(state, event)
        decisions += 1
        assert state_from_json(state_to_json(state)) == state
        assert action_from_json(action_to_json(action)) == action
        assert state.asked <= 3 * turns + 10

    assert state.phase is Phase.ENDED
    assert decisions <= 6 * turns + 20
    assert len(seen_ids) == len(set(seen_ids))
    if isinstance(action, Finish) and action.said is not None:
        assert state.found > 0 or action.said["answer_found"] is False
