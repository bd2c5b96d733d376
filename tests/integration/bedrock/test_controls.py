"""The endpoint's own controls, over plain HTTP."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from hindsight_aws.aws.bedrock import BedrockClients, BedrockTextModel
from hindsight_aws.errors import ModelThrottled
from tests.integration.bedrock.test_text_model import CALL
from tests.support.bedrock import Bedrock, unheeded


def test_stats_count_what_was_answered_and_reset_zeroes_them(bedrock: Bedrock, clients: BedrockClients) -> None:
    BedrockTextModel(clients).ask(CALL, unheeded)
    before = bedrock.stats()
    bedrock.clear()
    after = bedrock.stats()

    assert (before["llm_calls"], before["llm_requests"], before["calls"]) == (1, 1, {"extract_facts": 1})
    assert (after["llm_calls"], after["llm_requests"], after["calls"]) == (0, 0, {})


def test_latency_holds_an_answer_back(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.config({"latency_ms": 200})
    started = time.perf_counter()

    BedrockTextModel(clients).ask(CALL, unheeded)

    assert time.perf_counter() - started >= 0.2


def test_calls_past_the_quota_are_throttled_and_the_peak_is_shown(bedrock: Bedrock, clients: BedrockClients) -> None:
    model = BedrockTextModel(clients)
    outcomes: list[str] = []

    def outcome(_number: int) -> str:
        try:
            model.ask(CALL, unheeded)
        except ModelThrottled:
            return "throttled"
        return "ok"

    for milliseconds in (200, 2_000, 10_000):  # a machine that stalls spreads the calls
        bedrock.config({"latency_ms": milliseconds, "max_concurrent": 2})
        with ThreadPoolExecutor(5) as pool:
            outcomes = sorted(pool.map(outcome, range(5)))
        if outcomes.count("ok") == 2:
            break

    assert outcomes == ["ok", "ok", "throttled", "throttled", "throttled"]
    peak = bedrock.stats()["peak_in_flight"]
    assert isinstance(peak, int)
    assert peak >= 3


def test_equal_seeds_give_equal_faults(bedrock: Bedrock, clients: BedrockClients) -> None:
    def sequence() -> list[bool]:
        bedrock.config({"throttle_rate": 0.5, "seed": 11})
        outcomes = []
        for _ in range(8):
            try:
                BedrockTextModel(clients).ask(CALL, unheeded)
                outcomes.append(True)
            except ModelThrottled:
                outcomes.append(False)
        return outcomes

    assert sequence() == sequence()


@pytest.mark.parametrize(
    ("path", "body", "status", "kind"),
    [
        ("/__stub__/config", b'{"surprise": 1}', 400, "ValidationException"),
        ("/model/m/converse", b"no json", 400, "ValidationException"),
        ("/model/m/converse", b"{}", 400, "ValidationException"),
        (
            "/model/m/converse",
            b'{"messages": [{"role": "user", "content": [{"text": " "}]}]}',
            400,
            "ValidationException",
        ),
        ("/model/amazon.titan-embed-text-v2%3A0/invoke", b'{"inputText": ""}', 400, "ValidationException"),
        ("/model/other/invoke", b'{"inputText": "a"}', 400, "ValidationException"),
        ("/rerank", b"{}", 400, "ValidationException"),
        ("/nowhere", b"{}", 404, "UnknownOperationException"),
    ],
)
def test_bad_requests_are_refused_in_the_services_own_words(
    bedrock: Bedrock, path: str, body: bytes, status: int, kind: str
) -> None:
    answer = httpx.post(bedrock.url + path, content=body)

    assert (answer.status_code, answer.headers["x-amzn-errortype"]) == (status, kind)
    assert answer.json()["message"]


def test_the_recorder_shows_prompts_and_schemas(bedrock: Bedrock, clients: BedrockClients) -> None:
    BedrockTextModel(clients).ask(CALL, unheeded)

    (request,) = bedrock.requests("extract_facts")

    assert '<data kind="chunk">' in bedrock.prompts("extract_facts")[0]
    assert "caused_by" in json.dumps(request["toolConfig"])
