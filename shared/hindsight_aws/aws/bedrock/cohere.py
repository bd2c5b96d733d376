"""The body of Cohere Embed v4, both ways.

Called by `embedding_wire`; calls `titan` for the checks of a vector. Pure. From the model's page in the Bedrock user
guide: 96 texts a call, and dimensions of 256, 512, 1024 or 1536; a text past the model's limit is cut by the model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hindsight_aws.aws.bedrock.titan import read_vector
from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, JsonObject

MOST_TEXTS = 96


def cohere_body(texts: Sequence[str], purpose: EmbeddingPurpose, dimension: int) -> str:
    """The request for a vector of each text, as what is found or as what is looked for."""
    return json.dumps(
        {
            "texts": list(texts),
            "input_type": f"search_{purpose}",
            "embedding_types": ["float"],
            "output_dimension": dimension,
            "truncate": "RIGHT",
        }
    )


def read_vectors(document: JsonObject, count: int, dimension: int) -> list[Embedding]:
    """The vectors in order, checked.  Raises: ModelReplyMalformed for another number of them, or one that is none."""
    found = document.get("embeddings")
    if isinstance(found, dict):
        found = found.get("float")
    if not isinstance(found, list) or len(found) != count:
        raise ModelReplyMalformed(f"the answer does not hold {count} embeddings")
    return [read_vector({"embedding": values}, dimension) for values in found]
