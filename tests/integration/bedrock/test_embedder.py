"""The embedding adapter against the endpoint through real boto3: real vectors, scripted ones, and faults."""

from __future__ import annotations

import math
from array import array

import pytest

from hindsight_aws.aws.bedrock import BedrockClients, BedrockEmbedder
from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelReplyMalformed,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.ports.model_gateway import ModelUsage
from tests.support.bedrock import Bedrock, unheeded

TITAN = "amazon.titan-embed-text-v2:0"


def embedder(clients: BedrockClients, patience_s: float = 5.0) -> BedrockEmbedder:
    return BedrockEmbedder(clients, TITAN, patience_s=patience_s, sleep=lambda _seconds: None)


def cosine(one: array[float], other: array[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_vectors_have_length_one_and_rank_meaning(bedrock: Bedrock, clients: BedrockClients) -> None:
    texts = ["Ada bought a boat.", "She purchased a small ship.", "The printer is out of paper."]

    boat, ship, printer = embedder(clients).embed(texts, "document", unheeded)

    assert len(boat.values) == 512
    assert math.isclose(cosine(boat.values, boat.values), 1.0, abs_tol=1e-4)
    assert cosine(boat.values, ship.values) > cosine(boat.values, printer.values) + 0.2
    assert list(boat.values[384:]) == [0.0] * 128


def test_a_text_has_the_same_vector_alone_and_in_company(bedrock: Bedrock, clients: BedrockClients) -> None:
    texts = [f"Line {number}: " + "the tide is high " * (number % 7) for number in range(40)]

    together = embedder(clients).embed(texts, "document", unheeded)
    alone = [embedder(clients).embed([text], "query", unheeded)[0] for text in texts[:8]]

    assert all(cosine(a.values, b.values) > 0.999 for a, b in zip(alone, together, strict=False))


def test_equal_texts_are_asked_for_once_and_a_batch_is_one_usage_record(
    bedrock: Bedrock, clients: BedrockClients
) -> None:
    usage: list[ModelUsage] = []

    vectors = embedder(clients).embed(["same", "same", "other"], "document", usage.append)

    assert vectors[0].values == vectors[1].values != vectors[2].values
    assert sorted(bedrock.embedded()) == ["other", "same"]
    assert [(u.task, u.status, u.calls) for u in usage] == [("embed_document", "ok", 2)]
    assert usage[0].tokens.input > 0
    assert (usage[0].usd or 0) > 0


def test_a_blank_text_is_a_zero_vector_without_a_call(bedrock: Bedrock, clients: BedrockClients) -> None:
    (vector,) = embedder(clients).embed(["  \n"], "query", unheeded)

    assert vector.is_zero
    assert bedrock.calls("embed") == 0


def test_a_zero_vector_is_flagged(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.script({"embed": "ZERO"})

    (vector,) = embedder(clients).embed(["anything"], "query", unheeded)

    assert vector.is_zero


@pytest.mark.parametrize("script", ["NAN", "LEN3"])
def test_a_vector_that_cannot_be_used_is_an_error(bedrock: Bedrock, clients: BedrockClients, script: str) -> None:
    bedrock.script({"embed": script})
    usage: list[ModelUsage] = []

    with pytest.raises(ModelReplyMalformed):
        embedder(clients).embed(["a", "b"], "document", usage.append)

    assert {u.status for u in usage} == {"malformed"}
    assert usage[0].tokens.input > 0


def test_scripted_vectors_are_the_same_or_at_right_angles(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.script({"embed": "same"})
    one, two = embedder(clients).embed(["a", "b"], "document", unheeded)
    bedrock.script({"embed": "orthogonal"})
    three, four = embedder(clients).embed(["a", "b"], "document", unheeded)

    assert cosine(one.values, two.values) == 1.0
    assert cosine(three.values, four.values) == 0.0


def test_documents_wait_out_throttling_and_each_attempt_is_recorded(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.config({"throttle_rate": 0.4, "seed": 3})
    usage: list[ModelUsage] = []
    texts = [f"text {number}" for number in range(30)]

    vectors = embedder(clients, patience_s=30).embed(texts, "document", usage.append)

    assert len(vectors) == 30
    assert sum(u.calls for u in usage if u.status == "ok") == 30
    assert sum(u.calls for u in usage if u.status == "throttled") > 0


@pytest.mark.parametrize(
    ("script", "expected"),
    [("RAISE:throttle", ModelThrottled), ("RAISE:unavailable", ModelUnavailable), ("RAISE:denied", ModelDenied)],
)
def test_a_query_does_not_wait(
    bedrock: Bedrock, clients: BedrockClients, script: str, expected: type[HindsightError]
) -> None:
    bedrock.script({"embed": script})
    usage: list[ModelUsage] = []

    with pytest.raises(expected):
        embedder(clients).embed(["a question"], "query", usage.append)

    assert sum(u.calls for u in usage) == 1


def test_a_final_failure_stops_the_batch_early(bedrock: Bedrock, clients: BedrockClients) -> None:
    bedrock.script({"embed": "RAISE:denied"})
    usage: list[ModelUsage] = []

    with pytest.raises(ModelDenied):
        embedder(clients).embed([f"text {n}" for n in range(200)], "document", usage.append)

    assert sum(u.calls for u in usage) < 50


def test_a_text_past_the_models_limit_is_cut_and_embedded(bedrock: Bedrock, clients: BedrockClients) -> None:
    (vector,) = embedder(clients).embed(["word " * 60_000], "document", unheeded)

    assert not vector.is_zero
    assert len(bedrock.embedded()[-1]) < 50_000


@pytest.mark.parametrize("dimension", [256, 100])
def test_a_dimension_the_model_does_not_serve_is_denied(
    bedrock: Bedrock, clients: BedrockClients, dimension: int
) -> None:
    with pytest.raises(ModelDenied):
        BedrockEmbedder(clients, TITAN, dimension).embed(["a"], "query", unheeded)
