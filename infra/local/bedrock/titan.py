"""InvokeModel with the body of Titan Text Embeddings V2.

Called by `app`; calls `batching`. MiniLM's 384 dimensions are zero-padded, which changes no cosine; 256 dimensions
are refused, because they would be another space.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject
from infra.local.bedrock.batching import Batcher
from infra.local.bedrock.shapes import a_text

_DIMENSIONS = (256, 512, 1024)
_OWN_DIMENSION = 384
_MOST_CHARS = 50_000
_CHARS_PER_TOKEN = 4
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class VectorRequest:
    """A text and the dimension its vector must have."""

    text: str
    dimension: int

    @property
    def tokens(self) -> int:
        """About how many tokens the text has."""
        return max(1, len(self.text) // _CHARS_PER_TOKEN)


def read_vector_request(model: str, body: JsonObject) -> VectorRequest:
    """The request. Raises: ValueError with Bedrock's reason to refuse it."""
    text, dimension = a_text(body.get("inputText")), body.get("dimensions", 1024)
    if "titan-embed-text-v2" not in model:
        raise ValueError(f"The provided model identifier is invalid: {model}")
    if not text.strip():
        raise ValueError("Malformed input request: inputText must not be blank.")
    if len(text) > _MOST_CHARS:
        raise ValueError(f"Too many input tokens: {len(text)} characters, at most {_MOST_CHARS}.")
    if dimension not in _DIMENSIONS or not isinstance(dimension, int):
        raise ValueError(f"Malformed input request: dimensions must be one of {list(_DIMENSIONS)}.")
    if dimension < _OWN_DIMENSION:
        raise ValueError(f"The local embedding model has {_OWN_DIMENSION} dimensions and does not serve {dimension}.")
    if not isinstance(body.get("normalize", True), bool):
        raise ValueError("Malformed input request: normalize must be a boolean.")
    return VectorRequest(text, dimension)


async def embed(request: VectorRequest, batcher: Batcher) -> list[str]:
    """The vector's values as JSON numbers, padded to the dimension."""
    vector = await batcher.vector(request.text)
    values = [format(value, f".{_DIGITS}f") for value in vector.tolist()]
    return values + ["0"] * (request.dimension - len(values))


def write_vector(values: list[str], tokens: int) -> bytes:
    """The answer's body, joined by hand: the same numbers stand in it twice, and they are most of it."""
    listed = ",".join(values)
    return (
        f'{{"embedding":[{listed}],"embeddingsByType":{{"float":[{listed}]}},"inputTextTokenCount":{json.dumps(tokens)}}}'
    ).encode()
