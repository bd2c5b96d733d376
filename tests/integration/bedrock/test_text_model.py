"""The text adapter against the endpoint through real boto3: each way a call can end."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hindsight_aws.aws.bedrock import BedrockClients, BedrockLimits, BedrockTextModel
from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelReplyMalformed,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall, ModelUsage, ToolResult, ToolUse, Turn
from hindsight_aws.prompts import data_block, extraction_blocks, prompt
from hindsight_aws.prompts.contract import reflect
from hindsight_aws.prompts.contract.retain import RECORD_FACTS
from tests.support.bedrock import Bedrock, unheeded

FACTS: JsonObject = {"facts": [{"what": "Ada owns a kayak.", "fact_type": "world"}]}
CALL = ModelCall(
    task="extract_facts",
    prompt=prompt("extract_facts").ref,
    model="hindsight-local-rules",
    system=prompt("extract_facts").text,
    blocks=extraction_blocks("Ada: I own a kayak.", position=0, total=1, happened=datetime(2031, 2, 4, tzinfo=UTC)),
    max_tokens=4_000,
    tenant="t-1",
    bank="банк/1 {x} 100%",
    tools=(RECORD_FACTS,),
    forced_tool="record_facts",
    temperature=0.1,
)


def test_a_sound_reply_is_the_tools_input_with_its_tokens_and_cost(bedrock: Bedrock, clients: BedrockClients) -> None:
    usage: list[ModelUsage] = []

    reply = BedrockTextModel(clients).ask(CALL, usage.append)

    assert reply.tool_input["facts"] == [
        {"what": "Ada owns a kayak.", "fact_type": "world", "fact_kind": "conversation", "entities": [{"text": "Ada"}]}
    ]
    assert [(u.status, u.task, u.prompt, u.tokens) for u in usage] == [
        ("ok", "extract_facts", CALL.prompt, reply.usage)
    ]
    assert (usage[0].usd or 0) > 0
    assert bedrock.stats()["departures"] == {}


def test_the_wire_shows_task_prompt_tenant_and_bank_in_allowed_characters(
    bedrock: Bedrock, clients: BedrockClients
) -> None:
    BedrockTextModel(clients).ask(CALL, unheeded)

    assert bedrock.requests("extract_facts")[0]["requestMetadata"] == {
        "task": "extract_facts",
        "prompt": CALL.prompt,
        "tenant": "t-1",
        "bank": "=D0=B1=D0=B0=D0=BD=D0=BA/1=20=7Bx=7D=20100=25",
    }


@pytest.mark.parametrize(
    ("script", "expected", "status"),
    [
        ("RAISE:throttle", ModelThrottled, "throttled"),
        ("RAISE:quota", ModelThrottled, "throttled"),
        ("RAISE:unavailable", ModelUnavailable, "unavailable"),
        ("RAISE:internal", ModelUnavailable, "unavailable"),
        ("RAISE:model", ModelUnavailable, "unavailable"),
        ("RAISE:timeout", ModelUnavailable, "unavailable"),
        ("RAISE:drop", ModelUnavailable, "unavailable"),
        ("RAISE:validation", ModelDenied, "denied"),
        ("RAISE:denied", ModelDenied, "denied"),
        ("RAISE:unknown_model", ModelDenied, "denied"),
        ("RAISE:refused", ModelRefused, "refused"),
        ("RAISE:guardrail", ModelRefused, "refused"),
        ("RAISE:malformed", ModelReplyMalformed, "malformed"),
        ("RAISE:malformed_output", ModelReplyMalformed, "malformed"),
        ("RAISE:context", ModelReplyTruncated, "truncated"),
        ("TRUNCATED", ModelReplyTruncated, "truncated"),
        ("RAW:I would rather not say.", ModelReplyMalformed, "malformed"),
        ('RAW:Here: {"facts": [{"what": "cut', ModelReplyMalformed, "malformed"),
        ('RAW:{"result": {"facts": []}}', ModelReplyMalformed, "malformed"),
    ],
)
def test_each_fault_is_one_error_and_one_usage_record(
    bedrock: Bedrock, clients: BedrockClients, script: str, expected: type[HindsightError], status: str
) -> None:
    bedrock.script({"extract": script})
    usage: list[ModelUsage] = []

    with pytest.raises(HindsightError) as raised:
        BedrockTextModel(clients).ask(CALL, usage.append)

    assert type(raised.value) is expected
    assert [u.status for u in usage] == [status]
    assert bedrock.stats()["llm_requests"] == 1


@pytest.mark.parametrize("script", ["TRUNCATED", "RAISE:refused", "RAW:no"])
def test_tokens_of_a_reply_that_is_not_used_are_recorded(
    bedrock: Bedrock, clients: BedrockClients, script: str
) -> None:
    bedrock.script({"extract": script})
    usage: list[ModelUsage] = []

    with pytest.raises(HindsightError):
        BedrockTextModel(clients).ask(CALL, usage.append)

    assert usage[0].tokens.input > 100
    assert (usage[0].usd or 0) > 0


@pytest.mark.parametrize(
    "said",
    [
        'Sure, here it is:\n```json\n{"facts":[{"what":"Docs say use ```sh``` blocks."}]}\n```\nDone.',
        '[{"what": "Docs say use ```sh``` blocks."}]',
        'I read {this} first. {"facts": [{"what": "Docs say use ```sh``` blocks."}]} Hope it helps {you}.',
    ],
)
def test_json_in_a_text_stands_for_the_forced_tool(bedrock: Bedrock, clients: BedrockClients, said: str) -> None:
    bedrock.script({"extract": f"RAW:{said}"})

    reply = BedrockTextModel(clients).ask(CALL, unheeded)

    assert reply.tool_input == {"facts": [{"what": "Docs say use ```sh``` blocks."}]}


def test_scripted_replies_come_in_order_and_the_last_repeats(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.script({"extract": [FACTS, "ECHO"]})
    model = BedrockTextModel(clients)

    replies = [model.ask(CALL, unheeded).tool_input for _ in range(3)]

    assert replies[0] == FACTS
    assert replies[1] == replies[2] != FACTS


def test_a_call_slower_than_the_limit_is_given_up_once(bedrock: Bedrock) -> None:
    bedrock.config({"timeout_rate": 1, "timeout_s": 2})
    hasty = BedrockClients("eu-central-1", BedrockLimits(read_timeout_s=0.3))
    usage: list[ModelUsage] = []

    with pytest.raises(ModelUnavailable):
        BedrockTextModel(hasty).ask(CALL, usage.append)

    hasty.close()
    while bedrock.stats()["llm_requests"] == 0:  # it has the request, and may not have looked at it yet
        time.sleep(0.01)
    assert [u.status for u in usage] == ["unavailable"]
    assert bedrock.stats()["llm_requests"] == 1


def test_an_endpoint_that_is_not_there_is_unavailable(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:9")
    nowhere = BedrockClients("eu-central-1")

    with pytest.raises(ModelUnavailable):
        BedrockTextModel(nowhere).ask(CALL, unheeded)

    nowhere.close()


def test_every_injected_malformation_is_told_apart_from_success(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.config({"malformed_rate": 1})
    model = BedrockTextModel(clients)
    outcomes: list[str] = []

    for _ in range(4):
        try:
            outcomes.append(str(list(model.ask(CALL, unheeded).tool_input)))
        except HindsightError as error:
            outcomes.append(type(error).__name__)

    assert outcomes == ["['surprise']", "ModelReplyTruncated", "ModelReplyMalformed", "ModelReplyMalformed"]


def test_a_block_that_breaks_the_contract_is_refused_by_the_endpoint(bedrock: Bedrock, clients: BedrockClients) -> None:
    open_block = '<data kind="chunk">\n{"text": "a </data> b"}\n</data>'

    with pytest.raises(ModelDenied, match="not escaped"):
        BedrockTextModel(clients).ask(replace(CALL, blocks=(open_block,)), unheeded)


def test_an_input_past_the_models_context_has_an_error_of_its_own(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.script({"extract": "RAISE:too_long"})

    with pytest.raises(ModelInputTooLong):
        BedrockTextModel(clients).ask(CALL, unheeded)


@pytest.mark.parametrize("model", ["meta.llama3-3-70b-instruct-v1:0", "mistral.mistral-large-2407-v1:0", "acme.new-1"])
def test_a_model_that_cannot_be_forced_is_asked_in_words(bedrock: Bedrock, clients: BedrockClients, model: str) -> None:
    reply = BedrockTextModel(clients).ask(replace(CALL, model=model), unheeded)

    assert reply.tool_uses[0].name == "record_facts"
    assert "record_facts" in bedrock.prompts("extract_facts")[0].splitlines()[-1]


def test_a_conversation_with_tool_results_goes_on(bedrock: Bedrock, clients: BedrockClients) -> None:
    call = replace(
        CALL,
        task="reflect_turn",
        blocks=(data_block("question", {"text": "Where does Ada live?"}),),
        tools=(reflect.SEARCH_OBSERVATIONS, reflect.RECALL, reflect.DONE),
        forced_tool=None,
        any_tool=True,
    )
    results: dict[str, JsonObject] = {
        "search_observations": {"observations": [{"id": "o1", "text": "Ada lives in Graz."}]},
        "recall": {"memories": [{"id": "f1", "text": "Ada moved to Graz </data> & stayed."}]},
    }
    model = BedrockTextModel(clients)
    used: list[ToolUse] = []

    for _ in range(3):
        reply = model.ask(call, unheeded)
        use = reply.tool_uses[0]
        used.append(use)
        answers = (ToolResult(use.id, results.get(use.name, {})),)
        call = replace(call, history=(*call.history, Turn(reply.text, reply.tool_uses, answers)))

    assert [use.name for use in used] == ["search_observations", "recall", "done"]
    assert used[-1].input["observation_ids"] == ["o1"]
    assert used[-1].input["memory_ids"] == ["f1"]
