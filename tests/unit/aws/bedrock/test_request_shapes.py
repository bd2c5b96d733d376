"""Every call this product makes of Bedrock, held against AWS's own description of the service: nothing is sent.

What botocore knows but does not check (patterns, largest sizes, enumerations) is checked here by it as well.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sized
from itertools import product
from typing import Any

import botocore.session
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from hindsight_aws.aws.bedrock import (
    BedrockClients,
    BedrockEmbedder,
    BedrockReranker,
    BedrockTextModel,
)
from hindsight_aws.aws.bedrock.capabilities import capability_of
from hindsight_aws.aws.bedrock.converse import converse_request
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall, ModelUsage, ToolResult, ToolUse, Turn
from hindsight_aws.prompts import data_block
from hindsight_aws.prompts.contract import TASKS
from hindsight_aws.prompts.contract.shapes import Task

MODELS = (
    "anthropic.claude-3-haiku-20240307-v1:0",
    "us.anthropic.claude-3-5-haiku-20241022-v1:0",
    "eu.anthropic.claude-sonnet-4-20250514-v1:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "us.anthropic.claude-sonnet-4-6",
    "us.anthropic.claude-sonnet-5-5",
    "global.anthropic.claude-opus-4-7",
    "us.amazon.nova-2-lite-v1:0",
    "eu.amazon.nova-lite-v1:0",
    "mistral.mistral-large-2407-v1:0",
    "openai.gpt-oss-120b-1:0",
    "us.meta.llama3-3-70b-instruct-v1:0",
    "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
    "acme.new-model-v1:0",
)
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
SERVICE = botocore.session.Session().get_service_model("bedrock-runtime")
CONVERSE = SERVICE.operation_model("Converse").input_shape


def call_of(task: Task, model: str) -> ModelCall:
    """A call of that task with all that may go with it: odd names, an earlier turn, and words after its results."""
    tool = task.tools[0]
    use = ToolUse("tooluse_1", tool.name, {"reason": "to see", "query": "kayak"})
    turn = Turn("Looking.", (use,), (ToolResult(use.id, {"error": "nothing found"}, failed=True),), ("Go on.",))
    return ModelCall(
        task=task.name, prompt=f"{task.name}@3", model=model, system="Rules. " * 900,
        blocks=(data_block("question", {"text": "Where is the <kayak>?"}),), max_tokens=8_192,
        tenant="5a1f0000-0000-4000-8000-00000000de50", bank="Bänk | ünusual " * 20, tools=tuple(task.tools),
        forced_tool=tool.name if task.choice == "forced" else None, any_tool=task.choice == "any",
        history=(turn,), temperature=0.1,
    )  # fmt: skip


def departures(shape: Shape, value: object, at: str = "") -> Iterator[str]:
    """Where a value leaves the shape's patterns, sizes and enumerations."""
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        for name in value.keys() & shape.members.keys():
            yield from departures(shape.members[name], value[name], f"{at}.{name}")
    elif isinstance(shape, ListShape) and isinstance(value, list):
        yield from too_long(shape, value, at)
        for number, inner in enumerate(value):
            yield from departures(shape.member, inner, f"{at}[{number}]")
    elif isinstance(shape, MapShape) and isinstance(value, dict):
        yield from too_long(shape, value, at)
        for name, inner in value.items():
            yield from departures(shape.key, name, f"{at} key")
            yield from departures(shape.value, inner, f"{at}.{name}")
    elif isinstance(shape, StringShape) and isinstance(value, str):
        yield from too_long(shape, value, at)
        yield from ill_formed(shape, value, at)


def too_long(shape: Shape, value: Sized, at: str) -> Iterator[str]:
    most = shape.metadata.get("max")
    if isinstance(most, int) and len(value) > most:
        yield f"{at}: longer than {most}"


def ill_formed(shape: StringShape, value: str, at: str) -> Iterator[str]:
    pattern = shape.metadata.get("pattern")
    if isinstance(pattern, str) and not re.fullmatch(pattern, value):
        yield f"{at}: {value[:60]!r} is not {pattern[:60]}"
    if shape.enum and value not in shape.enum:
        yield f"{at}: {value!r} is none of {shape.enum}"


def at(value: JsonValue, *path: str | int) -> JsonValue:
    for step in path:
        if isinstance(step, int):
            assert isinstance(value, list)
            value = value[step]
        else:
            assert isinstance(value, dict)
            value = value[step]
    return value


@every_task
def test_every_task_makes_requests_that_the_service_takes(task: Task) -> None:
    assert CONVERSE is not None
    for model, strict in product(MODELS, (False, True)):
        request = converse_request(call_of(task, model), capability_of(model), strict=strict)

        report = ParamValidator().validate(request, CONVERSE)

        assert not report.has_errors(), f"{model}: {report.generate_report()}"
        assert list(departures(CONVERSE, request)) == [], model


def test_the_check_sees_what_the_service_would_refuse() -> None:
    request = converse_request(call_of(TASKS["consolidate"], MODELS[3]), capability_of(MODELS[3]))
    metadata = at(request, "requestMetadata")
    assert isinstance(metadata, dict)
    metadata["bank"] = "Bänk"
    metadata["tenant"] = "t" * 257

    assert CONVERSE is not None
    assert len(list(departures(CONVERSE, request))) == 3


@every_task
@pytest.mark.parametrize("model", MODELS)
def test_a_tool_is_demanded_as_far_as_the_model_can_be_told(task: Task, model: str) -> None:
    able = capability_of(model)
    request = converse_request(call_of(task, model), able)

    config = at(request, "toolConfig")
    last = at(request, "messages", -1, "content", -1, "text")

    assert isinstance(config, dict)
    assert isinstance(last, str)
    if task.choice == "forced" and able.forced_tool:
        assert (config["toolChoice"], last) == ({"tool": {"name": task.tools[0].name}}, "Go on.")
    elif able.any_tool:
        assert config["toolChoice"] == {"any": {}}
        assert (task.tools[0].name in last) == (task.choice == "forced")
    else:
        assert "toolChoice" not in config
        assert "using" in last


class Wire:
    """Takes each finished, signed request in the network's place and gives the answer laid down for it."""

    def __init__(self, answer: JsonObject) -> None:
        self.answer = answer
        self.requests: list[AWSPreparedRequest] = []

    def __call__(self, request: AWSPreparedRequest, **_: Any) -> Any:
        self.requests.append(request)
        return AWSResponse(request.url, 200, _json_headers(), _Raw(json.dumps(self.answer)))

    @property
    def body(self) -> JsonObject:
        """The last request's body."""
        sent = self.requests[-1].body
        assert isinstance(sent, bytes | str)
        document: JsonObject = json.loads(sent)
        return document


def _json_headers() -> HTTPHeaders:
    headers = HTTPHeaders()
    headers["content-type"] = "application/json"
    return headers


class _Raw(io.BytesIO):
    """A body as urllib3 hands it out."""

    def __init__(self, text: str) -> None:
        super().__init__(text.encode())

    def stream(self, amt: int = 1 << 16, **_: Any) -> Iterator[bytes]:
        while block := self.read(amt):
            yield block


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> BedrockClients:
    """Clients as a function has them with HINDSIGHT_BEDROCK=aws: credentials of one's own and no endpoint override."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "MADEUPKEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "made-up-token")
    return BedrockClients("eu-west-1")


def unheeded(_: ModelUsage) -> None:
    """Drops a usage record."""


def test_a_text_call_goes_signed_to_the_regions_own_endpoint(clients: BedrockClients) -> None:
    use: JsonObject = {"toolUse": {"toolUseId": "u1", "name": "judge_duplicate", "input": {"action": "keep"}}}
    wire = Wire({
        "output": {"message": {"role": "assistant", "content": [use]}}, "stopReason": "tool_use",
        "usage": {"inputTokens": 90, "outputTokens": 4, "totalTokens": 94}, "metrics": {"latencyMs": 5},
    })  # fmt: skip
    clients.runtime.meta.events.register("before-send.bedrock-runtime.Converse", wire)

    reply = BedrockTextModel(clients).ask(call_of(TASKS["judge_duplicate"], MODELS[3]), unheeded)

    sent = wire.requests[-1]
    assert sent.url == (
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    )
    assert b"MADEUPKEY" in sent.headers["Authorization"]
    assert sent.headers["X-Amz-Security-Token"] in {b"made-up-token", "made-up-token"}
    assert at(wire.body, "toolConfig", "toolChoice") == {"tool": {"name": "judge_duplicate"}}
    assert reply.tool_input == {"action": "keep"}


def test_a_model_is_called_through_its_application_profile_and_known_by_its_own_id(clients: BedrockClients) -> None:
    """Price and provenance go by the model: a profile's ARN says neither what it is nor what it costs."""
    profile = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3d4"
    use: JsonObject = {"toolUse": {"toolUseId": "u1", "name": "judge_duplicate", "input": {"action": "keep"}}}
    text = Wire({
        "output": {"message": {"role": "assistant", "content": [use]}}, "stopReason": "tool_use",
        "usage": {"inputTokens": 90, "outputTokens": 4, "totalTokens": 94}, "metrics": {"latencyMs": 5},
    })  # fmt: skip
    vector = Wire({"embedding": [0.5] * 512, "inputTextTokenCount": 3})
    titan = "amazon.titan-embed-text-v2:0"
    through = BedrockClients("eu-west-1", profiles={MODELS[3]: profile, titan: profile})
    through.runtime.meta.events.register("before-send.bedrock-runtime.Converse", text)
    through.runtime.meta.events.register("before-send.bedrock-runtime.InvokeModel", vector)
    usage: list[ModelUsage] = []

    reply = BedrockTextModel(through).ask(call_of(TASKS["judge_duplicate"], MODELS[3]), usage.append)
    BedrockEmbedder(through, titan).embed(["a red kayak"], "query", usage.append)

    named = "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2c3d4"
    assert [f"/model/{named}/" in wire.requests[-1].url for wire in (text, vector)] == [True, True]
    assert reply.model == MODELS[3]
    assert [(each.model, (each.usd or 0) > 0) for each in usage] == [(MODELS[3], True), (titan, True)]
    assert isinstance(CONVERSE, StructureShape)
    assert list(departures(CONVERSE.members["modelId"], profile)) == []


def test_an_embedding_goes_out_as_titan_takes_it(clients: BedrockClients) -> None:
    wire = Wire({"embedding": [0.5] * 512, "inputTextTokenCount": 3})
    clients.runtime.meta.events.register("before-send.bedrock-runtime.InvokeModel", wire)

    BedrockEmbedder(clients, "amazon.titan-embed-text-v2:0").embed(["a red kayak"], "query", unheeded)

    assert wire.requests[-1].url == (
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.titan-embed-text-v2%3A0/invoke"
    )
    assert wire.body == {"inputText": "a red kayak", "dimensions": 512, "normalize": True}


def test_a_rerank_names_its_model_by_arn_in_the_clients_region(clients: BedrockClients) -> None:
    wire = Wire({"results": [{"index": 1, "relevanceScore": 0.9}, {"index": 0, "relevanceScore": 0.1}]})
    clients.agent_runtime.meta.events.register("before-send.bedrock-agent-runtime.Rerank", wire)

    ranked = BedrockReranker(clients, "cohere.rerank-v3-5:0").rerank("kayak", ["a boat", "a kayak"], 2, unheeded)

    shape = botocore.session.Session().get_service_model("bedrock-agent-runtime").operation_model("Rerank").input_shape
    assert shape is not None
    assert wire.requests[-1].url == "https://bedrock-agent-runtime.eu-west-1.amazonaws.com/rerank"
    assert list(departures(shape, wire.body)) == []
    assert at(
        wire.body, "rerankingConfiguration", "bedrockRerankingConfiguration", "modelConfiguration", "modelArn"
    ) == ("arn:aws:bedrock:eu-west-1::foundation-model/cohere.rerank-v3-5:0")
    assert ranked == [(1, 0.9), (0, 0.1)]


def test_a_model_that_refuses_forced_tools_is_never_given_one() -> None:
    assert not capability_of("us.anthropic.claude-sonnet-5-5").forced_tool
    assert not capability_of("global.anthropic.claude-nobody-has-listed-9").forced_tool
    assert capability_of("us.anthropic.claude-sonnet-4-6").forced_tool
