"""`Reranker` over the Rerank API of bedrock-agent-runtime.

Joined to the use cases by `runtime`, and only where a model is configured for the region; calls `failures` and boto3.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_aws.aws.bedrock.clients import BedrockClients
from hindsight_aws.aws.bedrock.failures import WIRE_FAULTS, failure_of, status_of
from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.ports.model_gateway import CallStatus, ModelUsage, TokenUsage, UsageSink
from hindsight_aws.usage.prices import usd_for

if TYPE_CHECKING:
    from mypy_boto3_bedrock_agent_runtime.type_defs import RerankRequestTypeDef, RerankSourceTypeDef

_MOST_SOURCES = 1_000
_MOST_CHARS = 32_000
_BILLED_TOGETHER = 100  # documents that count as one query


class BedrockReranker:
    """Keeps `ports.model_gateway.Reranker`. `model` is a model id of the clients' region, or an ARN."""

    ranks_only = False

    def __init__(self, clients: BedrockClients, model: str) -> None:
        self.model = model
        self._clients = clients

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        shown = [index for index, text in enumerate(texts) if text.strip()][:_MOST_SOURCES]
        if not shown or not query.strip() or top < 1:
            return []
        started = time.perf_counter()
        request = self._request(query, [texts[index] for index in shown], min(top, len(shown)))
        try:
            answer = self._clients.agent_runtime.rerank(**request)
        except WIRE_FAULTS as fault:
            failure = failure_of(fault)
            self._record(status_of(failure), 0, started, usage)
            raise failure from None
        billed = math.ceil(len(shown) / _BILLED_TOGETHER)
        pairs = [(result["index"], result["relevanceScore"]) for result in answer["results"]]
        scores = probabilities([score for _, score in pairs])
        ranked = [(shown[i], score) for (i, _), score in zip(pairs, scores, strict=True) if 0 <= i < len(shown)]
        if len({index for index, _ in ranked}) != len(pairs):
            self._record("malformed", billed, started, usage)
            raise ModelReplyMalformed("the reranking names a document that was not sent, or one twice")
        self._record("ok", billed, started, usage)
        return sorted(ranked, key=lambda pair: -pair[1])[:top]

    def _request(self, query: str, texts: list[str], top: int) -> RerankRequestTypeDef:
        return {
            "queries": [{"type": "TEXT", "textQuery": {"text": query[:_MOST_CHARS]}}],
            "sources": [_source(text) for text in texts],
            "rerankingConfiguration": {
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "numberOfResults": top,
                    "modelConfiguration": {"modelArn": self._arn()},
                },
            },
        }

    def _arn(self) -> str:
        if self.model.startswith("arn:"):
            return self.model
        return f"arn:aws:bedrock:{self._clients.region}::foundation-model/{self.model}"

    def _record(self, status: CallStatus, billed: int, started: float, usage: UsageSink) -> None:
        took = (time.perf_counter() - started) * 1000
        usd = usd_for(self.model, TokenUsage(), billed)
        usage(ModelUsage("rerank", None, self.model, status, TokenUsage(), usd, took, calls=max(billed, 1)))


def probabilities(scores: Sequence[float]) -> list[float]:
    """The scores from 0 to 1: as they are if all are within, else all of them as logits; what is no number is 0.

    The service promises 0 to 1, so logits are what a model of its marketplace says that does not keep to that.
    """
    numbers = [score if math.isfinite(score) else None for score in scores]
    if all(0 <= number <= 1 for number in numbers if number is not None):
        return [number or 0.0 for number in numbers]
    return [0.0 if number is None else _sigmoid(number) for number in numbers]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else 1 - 1 / (1 + math.exp(logit))


def _source(text: str) -> RerankSourceTypeDef:
    return {
        "type": "INLINE",
        "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text[:_MOST_CHARS]}},
    }
