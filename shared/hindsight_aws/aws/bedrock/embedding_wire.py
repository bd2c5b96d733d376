"""How each family of embedding models is spoken to: what one call carries, and what its answer says.

Called by `embedder`; calls `titan` and `cohere`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hindsight_aws.aws.bedrock.cohere import MOST_TEXTS, cohere_body, read_vectors
from hindsight_aws.aws.bedrock.titan import cut_to_limit, read_vector, titan_body, tokens_in
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, JsonObject
from hindsight_aws.usage.prices import base_model

LONGEST = 512
"""Dimensions of the column that vectors are stored in; shorter ones are padded with zeros, which change no cosine."""
_TOKENS_HEADER = "x-amzn-bedrock-input-token-count"


@dataclass(frozen=True, slots=True)
class EmbeddingWire:
    """One family: its form of a body, how many texts a call carries, and the dimensions that are asked for."""

    form: Literal["titan", "cohere"]
    most_texts: int
    dimension: int

    def body(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> str:
        """The request for a vector of each text."""
        if self.form == "cohere":
            return cohere_body(texts, purpose, self.dimension)
        return titan_body(cut_to_limit(texts[0]), self.dimension)

    def read(self, document: JsonObject, count: int) -> list[Embedding]:
        """The vectors, one for each text.  Raises: ModelReplyMalformed."""
        if self.form == "cohere":
            return read_vectors(document, count, self.dimension)
        return [read_vector(document, self.dimension)]

    def tokens(self, document: JsonObject, headers: Mapping[str, str]) -> int:
        """The tokens that were billed; zero when the answer does not say."""
        told = headers.get(_TOKENS_HEADER, "")
        return tokens_in(document) or (int(told) if told.isdecimal() else 0)


_TITAN = EmbeddingWire("titan", 1, LONGEST)
_FAMILIES = (
    (re.compile(r"amazon\.titan-embed-text-v2"), _TITAN),
    (re.compile(r"cohere\.embed-v4"), EmbeddingWire("cohere", MOST_TEXTS, LONGEST)),
)


def wire_of(model: str) -> EmbeddingWire:
    """The family whose pattern opens the model id; Titan's form for a model that nobody has listed."""
    name = base_model(model)
    return next((wire for pattern, wire in _FAMILIES if pattern.match(name)), _TITAN)
