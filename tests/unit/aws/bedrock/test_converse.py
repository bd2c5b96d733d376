"""Writing calls: limits, cache points, forced tools and their stand-ins, by family of models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_aws.aws.bedrock.capabilities import capability_of
from hindsight_aws.aws.bedrock.converse import converse_request
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, ToolResult, ToolUse, Turn
from hindsight_aws.prompts.contract.retain import RECORD_FACTS

CALL = ModelCall(
    task="extract_facts", prompt="extract_facts@1", model="eu.anthropic.claude-haiku-4-5-20251001-v1:0",
    system="rules " * 1_000, blocks=("one", "two"), max_tokens=100_000, tenant="t", bank="b", tools=(RECORD_FACTS,),
    forced_tool="record_facts", temperature=0.1,
)  # fmt: skip


def written(call: ModelCall, *, strict: bool = False) -> JsonObject:
    return converse_request(call, capability_of(call.model), strict=strict)


def at(value: JsonValue, *path: str | int) -> JsonValue:
    for step in path:
        if isinstance(step, int):
            assert isinstance(value, list)
            value = value[step]
        else:
            assert isinstance(value, dict)
            value = value[step]
    return value


def test_output_is_always_bounded_and_never_above_the_models_own_limit() -> None:
    assert at(written(CALL), "inferenceConfig", "maxTokens") == 64_000
    assert at(written(replace(CALL, max_tokens=50)), "inferenceConfig", "maxTokens") == 50
    assert at(written(replace(CALL, model="acme.new")), "inferenceConfig", "maxTokens") == 4096


def test_instructions_stand_in_the_system_and_data_in_the_user_message() -> None:
    request = written(CALL)

    assert at(request, "system", 0) == {"text": CALL.system}
    assert at(request, "messages") == [{"role": "user", "content": [{"text": "one"}, {"text": "two"}]}]


def test_a_long_system_text_is_cached_where_the_model_can() -> None:
    assert at(written(CALL), "system", 1) == {"cachePoint": {"type": "default"}}
    assert len(str(at(written(replace(CALL, system="short")), "system"))) == len("[{'text': 'short'}]")
    assert "cachePoint" not in str(written(replace(CALL, model="meta.llama3-3-70b-instruct-v1:0")))


def _turn(place: int) -> Turn:
    used = f"u{place}"
    return Turn("", (ToolUse(used, "recall", {}),), (ToolResult(used, {"memories": [f"m{place}"]}),), (f"Q{place}",))


def test_a_conversation_is_cached_after_its_last_results_and_only_grows_before_that() -> None:
    first = written(replace(CALL, history=(_turn(1),)))
    second = written(replace(CALL, history=(replace(_turn(1), closing=()), _turn(2))))

    point = {"cachePoint": {"type": "default"}}
    earlier, later = at(first, "messages", 2, "content"), at(second, "messages", 2, "content")
    assert isinstance(earlier, list)
    assert isinstance(later, list)
    assert earlier[1:] == [point, {"text": "Q1"}]
    assert later == earlier[:2]
    assert at(second, "messages", 4, "content", 1) == point
    assert at(first, "system") == at(second, "system")


def test_a_request_holds_at_most_the_four_cache_points_a_provider_takes() -> None:
    turns = tuple(_turn(place) for place in range(9))

    assert str(written(replace(CALL, history=turns))).count("cachePoint") == 3
    assert "cachePoint" not in str(written(replace(CALL, history=turns, model="meta.llama3-3-70b-instruct-v1:0")))


@pytest.mark.parametrize(
    ("model", "choice"),
    [
        ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", {"tool": {"name": "record_facts"}}),
        ("us.amazon.nova-lite-v1:0", {"tool": {"name": "record_facts"}}),
        ("hindsight-local-rules", {"tool": {"name": "record_facts"}}),
        ("mistral.mistral-large-2407-v1:0", {"any": {}}),
        ("meta.llama3-3-70b-instruct-v1:0", None),
        ("acme.new", None),
    ],
)
def test_a_tool_is_forced_as_far_as_the_model_lets(model: str, choice: JsonObject | None) -> None:
    request = written(replace(CALL, model=model))
    config = at(request, "toolConfig")

    assert isinstance(config, dict)
    assert config.get("toolChoice") == choice
    assert ("record_facts" in str(at(request, "messages"))) == (choice is None or "any" in choice)


def test_temperature_is_left_out_for_models_that_reject_it() -> None:
    assert at(written(CALL), "inferenceConfig", "temperature") == 0.1
    assert "temperature" not in str(written(replace(CALL, model="global.anthropic.claude-opus-4-7")))
    assert "temperature" not in str(written(replace(CALL, temperature=None)))


def test_strict_schemas_are_asked_for_only_where_they_exist() -> None:
    assert at(written(CALL, strict=True), "toolConfig", "tools", 0, "toolSpec", "strict") is True
    assert "'strict'" not in str(written(CALL))
    assert "'strict'" not in str(written(replace(CALL, model="us.amazon.nova-lite-v1:0"), strict=True))


def test_a_turns_results_stand_in_one_message_in_the_order_of_their_uses() -> None:
    uses = (ToolUse("u1", "recall", {"query": "a"}), ToolUse("u2", "recall", {"query": "b"}))
    results = (ToolResult("u1", {"memories": []}), ToolResult("u2", {"error": "no"}, failed=True))

    request = written(replace(CALL, history=(Turn("", uses, results, ("now answer",)),)))

    assert [at(request, "messages", n, "role") for n in range(3)] == ["user", "assistant", "user"]
    assert at(request, "messages", 1, "content", 0, "toolUse", "toolUseId") == "u1"
    assert at(request, "messages", 2, "content", 0, "toolResult", "toolUseId") == "u1"
    assert at(request, "messages", 2, "content", 1, "toolResult", "status") == "error"
    assert at(request, "messages", 2, "content", 3) == {"text": "now answer"}


@pytest.mark.parametrize(
    ("made_up", "sent"),
    [
        pytest.param("functions.recall", "functions_recall", id="dot"),
        pytest.param("look up ü", "look_up__", id="blank and umlaut"),
        pytest.param("x" * 65, "x" * 64, id="long"),
        pytest.param("", "unknown", id="empty"),
        pytest.param("search_memory-2", "search_memory-2", id="sound"),
    ],
)
def test_a_tool_name_that_the_model_made_up_goes_back_in_letters_that_bedrock_takes(made_up: str, sent: str) -> None:
    turn = Turn("", (ToolUse("u1", made_up, {}),), (ToolResult("u1", {"error": "no such tool"}, failed=True),))

    assert at(written(replace(CALL, history=(turn,))), "messages", 1, "content", 0, "toolUse", "name") == sent
