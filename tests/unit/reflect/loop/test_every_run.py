"""Whatever is settled, said and broken, a reflect run ends, within bounds, and its row reads back as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.reflect.conversation.claims import MOST_CHUNKS
from hindsight_aws.reflect.loop.codec import action_from_json, action_to_json, state_from_json, state_to_json
from hindsight_aws.reflect.loop.planner import plan
from hindsight_aws.reflect.loop.state import (
    AskModel,
    Began,
    Broke,
    Claimed,
    Event,
    ExtractClaims,
    Finish,
    Phase,
    RanOut,
    Replied,
    RunLimits,
    RunState,
    RunTools,
    Searched,
    Use,
)

_LAYERS = ("search_mental_models", "search_observations", "recall")
_texts = st.text(max_size=20)
_values = st.one_of(st.none(), st.booleans(), st.integers(), _texts, st.lists(_texts, max_size=3))
_names = st.sampled_from([*_LAYERS, "expand", "done", "answer_ready", "nope", "functions.done", "", "reflect_rewrite"])
_fields = st.sampled_from(
    ["query", "answer", "answer_found", "memory_ids", "observation_ids", "max_tokens", "depth", "violations"]
)
_uses = st.builds(Use, _texts, _names, st.dictionaries(_fields, _values, max_size=5))
_refusals = st.sampled_from([None, None, None, "wrong"])
_replies = st.builds(Replied, st.lists(_uses, max_size=10).map(tuple), _refusals, st.just("end_turn"))
_errors = st.sampled_from(["ModelThrottled", "ModelUnavailable", "ModelInputTooLong", "ModelReplyMalformed", "Odd"])
_broken = st.one_of(st.builds(Broke, _errors), st.just(RanOut()))
_answers = st.one_of(_replies, _replies, _broken)
_sizes = st.lists(st.integers(1, 9_000), max_size=40).map(tuple)
_searches = st.builds(Searched, st.integers(0, 50), st.integers(0, 120_000), _sizes, st.booleans(), st.booleans())
_endings = st.sampled_from([("reflect_closing",), ("refresh_document",), ("retract", "refresh_ops"), ()])
_after = st.sampled_from([(), ("reflect_rewrite",), ("reflect_rewrite", "verify_directives", "structured_answer")])
_limits = st.builds(
    RunLimits,
    question=st.just("Who?"),
    first=st.sampled_from([_LAYERS, _LAYERS[1:], ("recall",), ()]),
    tools=st.just((*_LAYERS, "expand")),
    turns=st.integers(1, 20),
    context_tokens=st.sampled_from([1, 2_000, 100_000]),
    has_memories=st.sampled_from([True, True, True, False]),
    sequential=st.booleans(),
    thorough=st.booleans(),
    endings=_endings,
    after=_after,
    max_tokens=st.integers(1, 30),
)


@given(st.data(), _limits)
def test_every_run_ends_and_is_written_and_read_back_equal(data: st.DataObject, limits: RunLimits) -> None:
    state, action = plan(RunState(limits), Began())
    seen_ids: list[str] = []
    decisions, model_calls = 1, 0

    while isinstance(action, RunTools | AskModel | ExtractClaims):
        event: Event
        if isinstance(action, RunTools):
            seen_ids += [call.use_id for call in action.calls]
            event = data.draw(_searches)
        elif isinstance(action, ExtractClaims):
            covered = [place for start, end in action.chunks for place in range(start, end)]
            assert covered == list(range(len(state.sizes)))
            assert len(action.chunks) <= MOST_CHUNKS
            event = data.draw(st.one_of(st.just(Claimed()), _broken))
        else:
            model_calls += 1
            event = data.draw(_answers)
        state, action = plan(state, event)
        decisions += 1
        assert state_from_json(state_to_json(state)) == state
        assert action_from_json(action_to_json(action)) == action

    assert state.phase is Phase.ENDED
    assert model_calls <= 2 * limits.turns + 40
    assert decisions <= 120  # the workflow's guard
    assert len(seen_ids) == len(set(seen_ids))
    if isinstance(action, Finish) and action.answer is not None:
        assert state.found > 0 or action.answer["answer_found"] is False
