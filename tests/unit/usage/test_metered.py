"""Each call of a model is measured once, by what its usage record says, and traced by the conventions for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal

import pytest

from hindsight_aws.errors import ModelReplyMalformed, ModelThrottled
from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.model_gateway import CallStatus, ModelCall, ModelReply, ModelUsage, TokenUsage, UsageSink
from hindsight_aws.ports.tracing import SpanKind
from hindsight_aws.telemetry.spans import event_span
from hindsight_aws.usage.metered import MeteredEmbedder, MeteredReranker, MeteredTextModel, counting_refusals
from tests.support.models import HashEmbedder
from tests.support.telling import KeptSpans, telling

TEXT = "the heron on the canal"
CALL = ModelCall("consolidate", "consolidate@3", "m-1", TEXT, (TEXT,), 4_096, "t-1", "b-1", temperature=0.0)
TOKENS = TokenUsage(100, 20, 30, 4)


class Model:
    """Reports one record and answers, or fails as it says."""

    ranks_only = True

    def __init__(self, status: CallStatus = "ok", usd: Decimal | None = Decimal("0.25")) -> None:
        self._usage = ModelUsage("consolidate", "consolidate@3", "m-1", status, TOKENS, usd, 812.5)

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        usage(self._usage)
        if self._usage.status == "throttled":
            raise ModelThrottled("slow down")
        return ModelReply((), TEXT, "end_turn", TOKENS, 812.5, "m-1")

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        usage(self._usage)
        return [(0, 1.0)]


def _ask(model: Model) -> tuple[dict[Metric, float], KeptSpans, list[ModelUsage]]:
    spans, lines = KeptSpans(), list[ModelUsage]()
    with telling(spans) as metrics, event_span("event", SpanKind.SERVER, {}, None), suppress(ModelThrottled):
        MeteredTextModel(model).ask(CALL, lines.append)
    return metrics.sums(), spans, lines


def test_a_call_is_measured_by_its_record_which_reaches_the_ledger_too() -> None:
    measured, _, lines = _ask(Model())

    assert measured == {
        Metric.MODEL_CALLS: 1,
        Metric.MODEL_LATENCY: 812.5,
        Metric.INPUT_TOKENS: 134,
        Metric.OUTPUT_TOKENS: 20,
        Metric.MODEL_COST: 0.25,
    }
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("status", "metric"),
    [
        ("throttled", Metric.MODEL_THROTTLES),
        ("unavailable", Metric.MODEL_FAILURES),
        ("denied", Metric.MODEL_FAILURES),
        ("refused", Metric.MODEL_FAILURES),
        ("malformed", Metric.REFUSED_REPLIES),
        ("truncated", Metric.REFUSED_REPLIES),
    ],
)
def test_how_a_call_ended_is_one_metric(status: CallStatus, metric: Metric) -> None:
    endings = {Metric.MODEL_THROTTLES, Metric.MODEL_FAILURES, Metric.REFUSED_REPLIES}

    measured, spans, _ = _ask(Model(status))

    assert measured.keys() & endings == {metric}
    assert spans.named("chat m-1").attributes["error.type"] == status


def test_a_call_without_a_price_is_counted_apart_and_costs_nothing() -> None:
    measured, _, _ = _ask(Model(usd=None))

    assert measured[Metric.UNPRICED_CALLS] == 1
    assert Metric.MODEL_COST not in measured


def test_a_call_is_traced_by_the_conventions_and_without_a_word_of_it() -> None:
    _, spans, _ = _ask(Model())

    span = spans.named("chat m-1")
    assert span.kind is SpanKind.CLIENT
    assert span.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.request.model": "m-1",
        "gen_ai.request.max_tokens": 4_096,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.response.model": "m-1",
        "gen_ai.usage.input_tokens": 134,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 30,
        "gen_ai.usage.cache_creation.input_tokens": 4,
        "hindsight.task": "consolidate",
        "hindsight.prompt": "consolidate@3",
        "hindsight.usd": 0.25,
    }
    assert TEXT not in repr(spans.ended)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (
            "embeddings",
            lambda usage: MeteredEmbedder(HashEmbedder()).embed([TEXT, TEXT], "document", usage),
        ),
        ("rerank", lambda usage: MeteredReranker(Model(), "m-1").rerank(TEXT, [TEXT], 1, usage)),
    ],
    ids=["embeddings", "rerank"],
)
def test_vectors_and_ranks_are_measured_and_traced_alike(name: str, call: Callable[[UsageSink], object]) -> None:
    spans, lines = KeptSpans(), list[ModelUsage]()

    with telling(spans) as metrics, event_span("event", SpanKind.SERVER, {}, None):
        call(lines.append)

    assert metrics.sums()[Metric.MODEL_CALLS] == sum(line.calls for line in lines)
    span = next(span for span in spans.ended if span.name.startswith(name))
    assert span.attributes["gen_ai.operation.name"] == name
    assert TEXT not in repr(spans.ended)


def test_the_embedder_of_another_model_is_measured_too() -> None:
    metered = MeteredEmbedder(HashEmbedder())

    assert metered.of(None) is metered
    assert (metered.model, metered.dimension) == (HashEmbedder().model, HashEmbedder().dimension)


def test_a_reply_that_its_reader_refuses_is_counted() -> None:
    with telling() as metrics:
        with pytest.raises(ModelReplyMalformed), counting_refusals(CALL):
            raise ModelReplyMalformed("creates is not a list")
        with counting_refusals(CALL):
            pass

    assert metrics.added == [
        (
            Metric.REFUSED_REPLIES,
            1,
            None,
            {"tenant": "t-1", "model": "m-1", "task": "consolidate"},
        )
    ]
