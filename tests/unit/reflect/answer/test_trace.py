"""What an answer tells of how it came about, and what it cost."""

from __future__ import annotations

from decimal import Decimal

from hindsight_aws.ports.model_gateway import JsonObject, TokenUsage
from hindsight_aws.ports.reflect import Step
from hindsight_aws.ports.usage import RunCall
from hindsight_aws.reflect.answer.trace import trace, usage

CALL = RunCall("reflect_turn", "ok", TokenUsage(input=100, output=20, cache_read=7), Decimal("0.002"), 300)
FAILED = RunCall("reflect_turn", "unavailable", TokenUsage(input=50), None, 900)


def test_failed_calls_are_paid_for_too() -> None:
    assert usage([CALL, FAILED, CALL]) == {
        "input_tokens": 264, "output_tokens": 40, "total_tokens": 304, "cached_tokens": 14, "thoughts_tokens": 0,
        "usd": 0.004, "unpriced_calls": 1,
    }  # fmt: skip


def test_a_price_that_nobody_knows_is_not_zero_and_no_call_costs_nothing() -> None:
    assert usage([FAILED])["usd"] is None
    assert usage([])["usd"] == 0.0


def test_model_calls_are_named_by_what_they_were_for() -> None:
    tasks = ["reflect_claims", "reflect_claims", "reflect_synthesis", "reflect_rewrite", "structured_answer"]
    calls = [CALL, FAILED, *(RunCall(task, "ok", TokenUsage(), None, 1) for task in tasks)]

    told = trace([], calls, {}, with_output=False)["llm_calls"]

    assert isinstance(told, list)
    assert [one["scope"] for one in told if isinstance(one, dict)] == [
        "agent_1", "agent_2_err", "final_map_1", "final_map_2", "final", "final_rewrite", "structured_answer",
    ]  # fmt: skip


def test_of_what_is_gone_only_the_id_is_left() -> None:
    result: JsonObject = {
        "memories": [{"id": "a", "text": "secret"}, {"id": "b", "text": "plain"}],
        "chunks": [{"id": "c1", "text": "secret", "of": ["a"]}, {"id": "c2", "text": "plain", "of": ["a", "b"]}],
        "results": [{"memory_id": "a", "chunk": {"text": "secret"}}, {"memory_id": "b", "evidence": [{"id": "a"}]}],
    }
    step = Step(1, "tool:0", {"use_id": "u", "name": "recall", "said": {}}, {"result": result}, 4)

    (told,) = (trace([step], [], {}, {"a"}, with_output=True)["tool_calls"],)

    assert isinstance(told, list)
    assert "secret" not in str(told)
    assert [one["output"] for one in told if isinstance(one, dict)] == [
        {
            "memories": [{"id": "a", "gone": True}, {"id": "b", "text": "plain"}],
            "chunks": [{"id": "c1", "gone": True}, {"id": "c2", "text": "plain", "of": ["a", "b"]}],
            "results": [{"memory_id": "a", "gone": True}, {"memory_id": "b", "evidence": [{"id": "a", "gone": True}]}],
        }
    ]


def test_tools_are_told_with_real_ids_by_round_and_their_answers_only_where_wished() -> None:
    steps = [
        Step(1, "tool:0", {"use_id": "u", "name": "recall", "said": {"query": "f1"}}, {"result": {"memories": []}}, 4),
        Step(2, "model", {"task": "reflect_turn"}, {"text": ""}, 9),
        Step(3, "tool:0", {"use_id": "v", "name": "expand", "said": {"memory_ids": ["f1"]}}, {"refusal": "no"}, 0),
        Step(3, "tool:1", {"use_id": "w", "name": "recall", "said": {"query": "q"}}, None, None),
    ]

    full, bare = (trace(steps, [], {"f1": "real"}, with_output=shown)["tool_calls"] for shown in (True, False))

    assert full == [
        {"tool": "recall", "input": {"query": "f1"}, "output": {"memories": []}, "duration_ms": 4, "iteration": 1},
        {"tool": "expand", "input": {"memory_ids": ["real"]}, "output": {"error": "no"}, "duration_ms": 0,
         "iteration": 2},
    ]  # fmt: skip
    assert isinstance(bare, list)
    assert [one["output"] for one in bare if isinstance(one, dict)] == [None, None]
