"""How each family of embedding models is spoken to, and which of them a deployment hands out."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hindsight_aws.aws.bedrock import BedrockClients, BedrockEmbedder
from hindsight_aws.aws.bedrock.embedding_wire import wire_of
from hindsight_aws.errors import Conflict, ModelReplyMalformed
from hindsight_aws.ports.model_gateway import ModelUsage, serving

COHERE, TITAN = "us.cohere.embed-v4:0", "amazon.titan-embed-text-v2:0"


class _Runtime:
    """Answers each text of a body in Cohere's form with the vector that its length chooses."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def invoke_model(self, **call: Any) -> dict[str, Any]:
        body = json.loads(call["body"])
        self.asked.append({"model": call["modelId"], **body})
        vectors = [[1.0 if place == len(text) else 0.0 for place in range(512)] for text in body["texts"]]
        return {
            "body": io.BytesIO(json.dumps({"embeddings": {"float": vectors}}).encode()),
            "ResponseMetadata": {"HTTPHeaders": {"x-amzn-bedrock-input-token-count": "7"}},
        }


def _embedder(runtime: _Runtime, *served: str) -> BedrockEmbedder:
    return BedrockEmbedder(cast(BedrockClients, SimpleNamespace(runtime=runtime, address=str)), COHERE, served=served)


def test_cohere_is_asked_for_ninety_six_texts_a_call_and_answers_in_their_order() -> None:
    runtime, usages = _Runtime(), list[ModelUsage]()
    texts = ["x" * length for length in range(1, 101)]

    found = _embedder(runtime).embed(texts, "document", usages.append)

    assert [vector.values.index(1.0) for vector in found] == list(range(1, 101))
    assert sorted(len(call["texts"]) for call in runtime.asked) == [4, 96]
    assert {(call["input_type"], call["output_dimension"], call["truncate"]) for call in runtime.asked} == {
        ("search_document", 512, "RIGHT")
    }
    (line,) = usages
    assert (line.calls, line.tokens.input, line.usd) == (2, 14, None), "a price that is not known is not zero"


def test_a_query_is_asked_for_as_what_is_looked_for() -> None:
    runtime = _Runtime()

    _embedder(runtime).embed(["a red kayak"], "query", lambda _usage: None)

    assert [call["input_type"] for call in runtime.asked] == ["search_query"]


@pytest.mark.parametrize("answer", [{}, {"embeddings": []}, {"embeddings": {"float": [[1.0]]}}, {"embeddings": "x"}])
def test_an_answer_without_a_vector_for_each_text_is_malformed(answer: dict[str, Any]) -> None:
    with pytest.raises(ModelReplyMalformed):
        wire_of(COHERE).read(answer, 1)


def test_models_that_are_served_have_embedders_and_others_are_refused_in_a_sentence() -> None:
    embedder = _embedder(_Runtime(), COHERE, TITAN)

    other = embedder.of(TITAN)

    assert embedder.of(None) is embedder.of(COHERE) is embedder
    assert other is not None
    assert (other.model, other.dimension, embedder.of(TITAN) is other) == (TITAN, 512, True)
    with pytest.raises(Conflict, match="made by unheard-of, which this deployment does not serve"):
        serving(embedder, "unheard-of")


def test_vectors_longer_than_what_is_stored_are_refused_before_a_call() -> None:
    with pytest.raises(ValueError, match="1024 numbers; at most 512 are stored"):
        BedrockEmbedder(cast(BedrockClients, SimpleNamespace(runtime=_Runtime())), TITAN, 1024)
