"""The body of Titan Text Embeddings V2, both ways.

Called by `embedder`; calls nothing. Pure. Limits from the model's page in the Bedrock user guide: 8,192 tokens.
"""

from __future__ import annotations

import json
from array import array
from itertools import accumulate
from math import isfinite
from operator import mul
from typing import cast

from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.ports.model_gateway import Embedding, JsonObject, JsonValue

_TOKENS = 8_000  # a little below the limit, because the count below is an estimate
_TOKENS_PER_ASCII = 0.4
_TOKENS_PER_OTHER = 1.4
_SURELY_SHORT = int(_TOKENS / _TOKENS_PER_OTHER)


def titan_body(text: str, dimension: int) -> str:
    """The request for a vector of length one."""
    return json.dumps({"inputText": text, "dimensions": dimension, "normalize": True})


def cut_to_limit(text: str) -> str:
    """The opening of `text` that fits the model, by a careful estimate: 2.5 characters a token in Latin script."""
    if len(text) <= _SURELY_SHORT:
        return text
    costs = accumulate(_TOKENS_PER_ASCII if char < "\x80" else _TOKENS_PER_OTHER for char in text)
    return text[: sum(1 for cost in costs if cost <= _TOKENS)]


def parse(body: bytes) -> JsonObject:
    """The answer as an object. Raises: ModelReplyMalformed."""
    try:
        document: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelReplyMalformed("the embedding's answer is not JSON") from None
    if not isinstance(document, dict):
        raise ModelReplyMalformed("the embedding's answer is not an object")
    return document


def tokens_in(document: JsonObject) -> int:
    """The tokens that were billed; zero when the answer does not say."""
    count = document.get("inputTextTokenCount")
    return count if isinstance(count, int) else 0


def read_vector(document: JsonObject, dimension: int) -> Embedding:
    """The vector, checked. Raises: ModelReplyMalformed for another length, a value that is no number or not finite."""
    raw = document.get("embedding")
    if not isinstance(raw, list) or len(raw) != dimension:
        length = len(raw) if isinstance(raw, list) else "no list"
        raise ModelReplyMalformed(f"the embedding has {length} values where {dimension} were asked for")
    try:
        values: array[float] = array("f", cast(list[float], raw))  # what is not a number raises TypeError: the check
        squares = sum(map(mul, values, values))
    except (TypeError, OverflowError):
        raise ModelReplyMalformed("the embedding holds a value that is not a number") from None
    if not isfinite(squares):
        raise ModelReplyMalformed("the embedding holds a value that is not finite")
    return Embedding(values, is_zero=squares == 0.0)
