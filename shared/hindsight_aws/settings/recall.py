"""How facts are found: floors, bounds, and the ways a bank is searched.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class RecallSettings(BaseSettings):
    """How facts are found: floors, bounds, and the ways a bank is searched."""

    hindsight_api_semantic_min_similarity: float = Field(
        0.3, ge=-1, le=1, description="Least cosine of a semantic recall candidate."
    )
    hindsight_api_temporal_semantic_min_similarity: float = Field(
        0.1, ge=-1, le=1, description="Least cosine of a memory that recall finds by the time a question is about."
    )
    hindsight_api_graph_seed_min_similarity: float = Field(
        0.3, ge=-1, le=1, description="Least cosine of a memory that recall's graph arm goes on from."
    )
    hindsight_api_link_expansion_per_entity_limit: int = Field(
        200, ge=1, le=1_000, description="Most memories, the newest, that an entity leads recall's graph arm to."
    )
    hindsight_api_link_expansion_timeout: float = Field(
        10.0, gt=0, description="Seconds that a statement of recall's graph arm may take; past it the arm is left out."
    )
    hindsight_api_recall_max_query_tokens: int = Field(
        500, ge=0, description="Longer recall queries are cut to this many tokens; 0: never."
    )
    hindsight_api_recall_exact_scan_limit: int = Field(
        10_000,
        ge=0,
        description="Most facts of a type that a bank is searched through exactly; larger ones use the vector index.",
    )
    hindsight_api_reranker_max_candidates: int = Field(
        300, ge=1, le=1_000, description="Most candidates that a rerank model is shown, whatever the budget."
    )
    hindsight_api_reranker_max_candidates_low: int = Field(
        100, ge=0, description="Candidates that a rerank model is shown at budget low; 0: as many as at most."
    )
    hindsight_api_reranker_max_candidates_mid: int = Field(
        100, ge=0, description="Candidates that a rerank model is shown at budget mid; 0: as many as at most."
    )
    hindsight_api_reranker_max_candidates_high: int = Field(
        200, ge=0, description="Candidates that a rerank model is shown at budget high; 0: as many as at most."
    )
    hindsight_api_bm25_max_query_terms: int = Field(
        16, ge=1, description="Most terms of a recall query that the keyword arm looks up."
    )
    hindsight_recall_most_banks: int = Field(
        10,
        ge=0,
        le=50,
        description="Most banks that one call of `POST /v1/default/recall` may search; 0: the route answers 404.",
    )
