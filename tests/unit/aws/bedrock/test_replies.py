"""Reading replies: complete ones pass, all else is named for what it is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hindsight_aws.aws.bedrock.replies import read_reply, tokens_of
from hindsight_aws.errors import HindsightError, ModelRefused, ModelReplyMalformed, ModelReplyTruncated
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, TokenUsage
from hindsight_aws.prompts.contract.retain import RECORD_FACTS
from hindsight_aws.text.sanitise import clean

CALL = ModelCall(
    task="extract_facts", prompt="extract_facts@1", model="m", system="s", blocks=("b",), max_tokens=10, tenant="t",
    bank="b", tools=(RECORD_FACTS,), forced_tool="record_facts",
)  # fmt: skip
FACTS: JsonObject = {"facts": [{"what": "a", "fact_type": "world"}]}


def answer(*content: JsonValue, stop: str = "tool_use") -> JsonObject:
    return {"output": {"message": {"role": "assistant", "content": [*content]}}, "stopReason": stop}


def use(given: JsonValue, name: str = "record_facts") -> JsonObject:
    return {"toolUse": {"toolUseId": "u1", "name": name, "input": given}}


@pytest.mark.parametrize(
    "response",
    [
        answer(use(FACTS)),
        answer({"text": "Let me record that."}, use(FACTS), {"text": "Done."}),
        answer(use(FACTS), stop="end_turn"),
        answer(use('{"facts": [{"what": "a", "fact_type": "world"}]}')),
        answer(use({"facts": '[{"what": "a", "fact_type": "world"}]'})),
        pytest.param(answer(use([{"what": "a", "fact_type": "world"}])), id="[R039] bare list"),
        pytest.param(answer(use('[{"what": "a", "fact_type": "world"}]')), id="[R039] bare list as text"),
        answer({"text": '```json\n{"facts": [{"what": "a", "fact_type": "world"}]}\n```'}, stop="end_turn"),
        answer(
            {"text": 'I read {this} and {"that": 1}. {"facts": [{"what": "a", "fact_type": "world"}]}'}, stop="end_turn"
        ),
        answer({"text": 'My [notes] say: [{"what": "a", "fact_type": "world"}]'}, stop="end_turn"),
    ],
)
def test_the_forced_tools_input_is_found(response: JsonObject) -> None:
    (found,), _, _ = read_reply(response, CALL)

    assert (found.name, found.input) == ("record_facts", FACTS)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (answer(use(FACTS), stop="max_tokens"), ModelReplyTruncated),
        pytest.param(
            answer({"text": '{"facts": [{"what": "a"'}, stop="max_tokens"), ModelReplyTruncated, id="[X040] cut JSON"
        ),
        (answer(use(FACTS), stop="model_context_window_exceeded"), ModelReplyTruncated),
        (answer(use(FACTS), stop="content_filtered"), ModelRefused),
        (answer(use(FACTS), stop="guardrail_intervened"), ModelRefused),
        (answer(use(FACTS), stop="malformed_tool_use"), ModelReplyMalformed),
        (answer(use(FACTS), stop="malformed_model_output"), ModelReplyMalformed),
        (answer(use(FACTS), use(FACTS)), ModelReplyMalformed),
        (answer(use(FACTS, name="another")), ModelReplyMalformed),
        (answer(use([1, 2])), ModelReplyMalformed),
        (answer(use("prose")), ModelReplyMalformed),
        (answer({"text": '{"other": []}'}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": "[1, 2]"}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": 'Here: {"facts": [{"what": "a"}]'}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": 'Here: {"facts": [{"what": "a"}], Done.'}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": '{"facts": [{"what": "a'}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": '{"result": {"facts": [{"what": "a"}]}}'}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": '{"a":' * 50_000}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": "{" * 5_000}, stop="end_turn"), ModelReplyMalformed),
        (answer({"text": "[" * 100_000}, stop="end_turn"), ModelReplyMalformed),
        (answer(), ModelReplyMalformed),
        ({"stopReason": "end_turn"}, ModelReplyMalformed),
        ({"output": {"message": "x"}, "stopReason": "end_turn"}, ModelReplyMalformed),
        ({}, ModelReplyMalformed),
    ],
)
def test_a_reply_that_is_not_whole_is_never_accepted(response: JsonObject, error: type[HindsightError]) -> None:
    with pytest.raises(error):
        read_reply(response, CALL)


def test_without_a_forced_tool_text_alone_is_a_reply() -> None:
    free = ModelCall("t", "p@1", "m", "s", ("b",), 10, "t", "b")

    uses, text, stop = read_reply(answer({"text": "Hello."}, {"text": "Bye."}, stop="end_turn"), free)

    assert (uses, text, stop) == ((), "Hello.\nBye.", "end_turn")


def test_tokens_are_read_from_any_answer() -> None:
    usage: JsonObject = {"inputTokens": 5, "outputTokens": 7, "cacheReadInputTokens": 11, "cacheWriteInputTokens": 13}

    assert tokens_of({"usage": usage}) == TokenUsage(5, 7, 11, 13)
    assert tokens_of({}) == TokenUsage()
    assert tokens_of({"usage": {"inputTokens": "many"}}) == TokenUsage()


def strings_in(value: JsonValue) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [*value, *(text for field in value.values() for text in strings_in(field))]
    return [text for item in value for text in strings_in(item)] if isinstance(value, list) else []


DIRTY: JsonObject = {
    "fa\x00cts": [],
    "facts": [{"what": "a\x00\x07b\ud83d", "who\x1f": ["\udc00c", {"d\x00": "\x7f"}]}],
}


@pytest.mark.parametrize(
    "response",
    [
        answer({"text": "said\x00 \ud83d"}, use(DIRTY)),
        answer(use(json.dumps(DIRTY))),
        answer(use({"facts": json.dumps(DIRTY["facts"])})),
        answer({"text": f"```json\n{json.dumps(DIRTY)}\n```"}, stop="end_turn"),
    ],
    ids=["object", "text", "field-as-text", "prose"],
)
@pytest.mark.parametrize("forced", ["record_facts", None], ids=["forced", "free"])
def test_nothing_the_model_wrote_holds_what_postgres_refuses(response: JsonObject, forced: str | None) -> None:
    uses, text, stop = read_reply(response, replace(CALL, forced_tool=forced))

    said = [text, stop, *(one for used in uses for one in (used.id, used.name, *strings_in(used.input)))]
    assert all(clean(one) == one for one in said)
    if uses:
        assert uses[0].input["facts"] == [{"what": "ab", "who": ["c", {"d": ""}]}]


def test_names_and_ids_of_tools_are_cleaned_too() -> None:
    wire: JsonObject = {"toolUse": {"toolUseId": "u\x001", "name": "record_facts\x00", "input": FACTS}}

    (found,), _, _ = read_reply(answer(wire), CALL)

    assert (found.id, found.name) == ("u1", "record_facts")


def test_a_number_that_json_cannot_write_becomes_null() -> None:
    (found,), _, _ = read_reply(answer(use('{"facts": [{"what": "a", "n": NaN, "m": [-Infinity, 1.5]}]}')), CALL)

    assert found.input == {"facts": [{"what": "a", "n": None, "m": [None, 1.5]}]}


def test_an_input_that_is_nested_without_end_is_malformed() -> None:
    nested: JsonValue = "x"
    for _ in range(5_000):
        nested = [nested]

    with pytest.raises(ModelReplyMalformed, match="nested"):
        read_reply(answer(use({"facts": nested})), CALL)
