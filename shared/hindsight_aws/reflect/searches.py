"""Lets reflect's tools search as recall does.  Made by runtime.py; calls the recall use case."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder, Reranker
from hindsight_aws.ports.store import Store
from hindsight_aws.recall import RecallQuery, fact_types_of, recall
from hindsight_aws.reflect.ports import SearchRequest
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class RecallSearches:
    """Searches through recall, at its middle budget whatever reflect's own is."""

    store: Store
    embedder: Embedder
    reranker: Reranker | None
    settings: Settings
    clock: Clock

    def search(self, principal: Principal, bank: str, request: SearchRequest) -> RecallAnswer:
        query = RecallQuery(
            query=request.query,
            fact_types=fact_types_of(sorted(request.fact_types)),
            max_tokens=request.max_tokens,
            tags=request.tags,
            prefer_observations=False,
        )
        return recall(
            self.store,
            self.embedder,
            self.settings,
            principal,
            bank,
            query,
            reranker=self.reranker,
            clock=self.clock,
        )
