"""The reranking adapter against the endpoint through real boto3."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from hindsight_aws.aws.bedrock import BedrockClients, BedrockReranker
from hindsight_aws.aws.bedrock.reranker import probabilities
from hindsight_aws.errors import ModelThrottled, ModelUnavailable
from hindsight_aws.ports.model_gateway import ModelUsage
from tests.support.bedrock import Bedrock, unheeded


def test_the_best_texts_come_first_by_their_own_index(bedrock: Bedrock, clients: BedrockClients) -> None:
    usage: list[ModelUsage] = []

    ranked = BedrockReranker(clients, "amazon.rerank-v1:0").rerank(
        "green tea", ["A boat.", " ", "Tea is hot.", "Green tea is mild."], 2, usage.append
    )

    assert [index for index, _ in ranked] == [3, 2]
    assert ranked[0][1] > ranked[1][1]
    assert [(u.task, u.status, u.usd) for u in usage] == [("rerank", "ok", Decimal("0.001"))]


def test_nothing_to_rank_makes_no_call(bedrock: Bedrock, clients: BedrockClients) -> None:
    reranker = BedrockReranker(clients, "amazon.rerank-v1:0")

    assert reranker.rerank("tea", ["", "  "], 5, unheeded) == []
    assert reranker.rerank("  ", ["tea"], 5, unheeded) == []
    assert bedrock.calls("rerank") == 0


def test_each_hundred_texts_are_billed_as_one_query(bedrock: Bedrock, clients: BedrockClients) -> None:
    usage: list[ModelUsage] = []

    BedrockReranker(clients, "cohere.rerank-v3-5:0").rerank("tea", ["tea"] * 101, 5, usage.append)

    assert (usage[0].calls, usage[0].usd) == (2, Decimal("0.004"))


@pytest.mark.parametrize(("fault", "expected"), [("throttle_rate", ModelThrottled), ("error_rate", ModelUnavailable)])
def test_faults_are_typed_and_recorded(
    bedrock: Bedrock, clients: BedrockClients, fault: str, expected: type[Exception]
) -> None:
    bedrock.config({fault: 1})
    usage: list[ModelUsage] = []

    with pytest.raises(expected):
        BedrockReranker(clients, "amazon.rerank-v1:0").rerank("tea", ["tea"], 5, usage.append)

    assert len(usage) == 1
    assert usage[0].status != "ok"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([2.1, -3.0], [0.8909, 0.0474]),
        ([0.02, 0.9], [0.02, 0.9]),
        ([math.nan, 0.5], [0.0, 0.5]),
        ([math.nan, 4.0, -800.0], [0.0, 0.982, 0.0]),
        ([math.inf, 1.0, 0.0], [0.0, 1.0, 0.0]),
    ],
)
def test_scores_are_probabilities_or_made_such_and_what_is_no_number_is_nothing(
    scores: list[float], expected: list[float]
) -> None:
    """[Q048]."""
    assert probabilities(scores) == pytest.approx(expected, abs=1e-4)
