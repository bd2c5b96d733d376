"""Models whose every call is measured and traced: the one place where usage records become metrics and spans.

Put around the adapters by aws/bedrock/models.py, so that no use case has to think of it.  Says what a call cost and how
it ended, never what was asked or answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.model_gateway import (
    Embedder,
    Embedding,
    EmbeddingPurpose,
    ModelCall,
    ModelReply,
    ModelUsage,
    Reranker,
    TextModel,
    UsageSink,
)
from hindsight_aws.ports.tracing import Attribute, SpanKind
from hindsight_aws.telemetry import OpenSpan, measure, span

_PROVIDER: Final[Mapping[str, Attribute]] = {"gen_ai.provider.name": "aws.bedrock"}
_THROTTLED: Final = frozenset({"throttled"})
_REFUSED: Final = frozenset({"malformed", "truncated"})
"""Replies that came and cannot be used."""
_FAILED: Final = frozenset({"unavailable", "denied", "refused"})


class MeteredTextModel:
    """A TextModel whose calls are measured and traced."""

    def __init__(self, inner: TextModel) -> None:
        self._inner = inner

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        """As the model does."""
        asked: dict[str, Attribute | None] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": call.model,
            "gen_ai.request.max_tokens": call.max_tokens,
            "gen_ai.request.temperature": call.temperature,
            "hindsight.task": call.task,
            "hindsight.prompt": call.prompt,
        }
        with span(f"chat {call.model}", SpanKind.CLIENT, _PROVIDER) as open_span:
            open_span.set(asked)

            def told(line: ModelUsage) -> None:
                _tell(line, open_span, tenant=call.tenant)
                usage(line)

            reply = self._inner.ask(call, told)
            open_span.set({"gen_ai.response.finish_reasons": (reply.stop,), "gen_ai.response.model": reply.model})
            return reply


class MeteredEmbedder:
    """An Embedder whose calls are measured and traced; a batch is one span."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def model(self) -> str:
        """As the embedder's."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """As the embedder's."""
        return self._inner.dimension

    def of(self, model: str | None) -> Embedder | None:
        """As the embedder's, measured too."""
        found = self._inner.of(model)
        if found is None or found is self._inner:
            return None if found is None else self
        return MeteredEmbedder(found)

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        """As the embedder does."""
        with span(f"embeddings {self.model}", SpanKind.CLIENT, _PROVIDER) as open_span:
            open_span.set(
                {
                    "gen_ai.operation.name": "embeddings",
                    "gen_ai.request.model": self.model,
                    "gen_ai.embeddings.dimension.count": self.dimension,
                    "hindsight.texts": len(texts),
                }
            )
            return self._inner.embed(texts, purpose, _telling(usage, open_span))


class MeteredReranker:
    """A Reranker whose calls are measured and traced."""

    def __init__(self, inner: Reranker, model: str) -> None:
        self._inner = inner
        self._model = model
        self.ranks_only = inner.ranks_only

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        """As the reranker does."""
        with span(f"rerank {self._model}", SpanKind.CLIENT, _PROVIDER) as open_span:
            open_span.set(
                {
                    "gen_ai.operation.name": "rerank",
                    "gen_ai.request.model": self._model,
                    "hindsight.texts": len(texts),
                }
            )
            return self._inner.rerank(query, texts, top, _telling(usage, open_span))


@contextmanager
def counting_refusals(call: ModelCall) -> Iterator[None]:
    """Around the reading of a reply that came well: one that the reader refuses as malformed is counted."""
    try:
        yield
    except ModelReplyMalformed:
        measure(Metric.REFUSED_REPLIES, tenant=call.tenant, model=call.model, task=call.task)
        raise


def _telling(usage: UsageSink, open_span: OpenSpan) -> UsageSink:
    def told(line: ModelUsage) -> None:
        _tell(line, open_span)
        usage(line)

    return told


def _tell(line: ModelUsage, open_span: OpenSpan, **whose: str) -> None:
    """Measures one record, and says in the span what the call used and why it failed."""
    properties = {"model": line.model, "task": line.task, **whose}

    def add(metric: Metric, value: float) -> None:
        if value:
            measure(metric, value, **properties)

    add(Metric.MODEL_CALLS, line.calls)
    add(Metric.MODEL_LATENCY, line.latency_ms)
    add(Metric.INPUT_TOKENS, line.tokens.total_input)
    add(Metric.OUTPUT_TOKENS, line.tokens.output)
    add(Metric.MODEL_THROTTLES, line.calls * (line.status in _THROTTLED))
    add(Metric.MODEL_FAILURES, line.calls * (line.status in _FAILED))
    add(Metric.REFUSED_REPLIES, line.calls * (line.status in _REFUSED))
    if line.usd is not None:
        add(Metric.MODEL_COST, float(line.usd))
    elif line.status == "ok" or line.tokens.total_input or line.tokens.output:
        add(Metric.UNPRICED_CALLS, line.calls)
    open_span.set(_used(line))
    if line.status != "ok":
        open_span.fail(line.status)


def _used(line: ModelUsage) -> dict[str, Attribute | None]:
    tokens = line.tokens
    return {
        "gen_ai.usage.input_tokens": tokens.total_input or None,
        "gen_ai.usage.output_tokens": tokens.output or None,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read or None,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write or None,
        "hindsight.usd": None if line.usd is None else float(line.usd),
    }
