"""Rerank of bedrock-agent-runtime, scored by shared words.

Called by `app`; calls `rules.language`. Pure.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.language import content_words
from infra.local.bedrock.shapes import a_count, a_text, an_object, objects

_MOST_SOURCES = 1_000


def rerank(body: JsonObject) -> JsonObject:
    """The answer's body, best first. Raises: ValueError with Bedrock's reason to refuse it."""
    queries = objects(body.get("queries"))
    query = a_text(an_object(queries[0].get("textQuery")).get("text")) if queries else ""
    sources = objects(body.get("sources"))
    documents = [_text(source) for source in sources]
    config = an_object(an_object(body.get("rerankingConfiguration")).get("bedrockRerankingConfiguration"))
    if not query.strip() or not documents or len(documents) > _MOST_SOURCES or not all(d.strip() for d in documents):
        raise ValueError("One query and 1 to 1000 sources, none of them blank, are required.")
    if not an_object(config.get("modelConfiguration")).get("modelArn"):
        raise ValueError("modelArn is required.")
    asked = content_words(query)
    scores = [(_score(asked, content_words(document)), index) for index, document in enumerate(documents)]
    scores.sort(key=lambda pair: (-pair[0], pair[1]))
    top = a_count(config.get("numberOfResults")) or len(scores)
    results: list[JsonValue] = [{"index": index, "relevanceScore": score} for score, index in scores[:top]]
    return {"results": results}


def _text(source: JsonObject) -> str:
    return a_text(an_object(an_object(source.get("inlineDocumentSource")).get("textDocument")).get("text"))


def _score(asked: frozenset[str], words: frozenset[str]) -> float:
    """The share of the query that the document says, a little lower the more else it says."""
    shared = len(asked & words)
    return round(shared / (len(asked) or 1) * (0.8 + 0.2 * shared / (len(words) or 1)), 6)
